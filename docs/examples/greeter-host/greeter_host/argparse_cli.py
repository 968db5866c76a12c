"""The same command without click: what follows ``plugin`` is handed over as it is."""

from __future__ import annotations

import argparse
import sys

from greeter_host import greet, make_host
from lionplug.cli.main import main as plugin_main


def main() -> int:
    """Run the command."""
    if sys.argv[1:2] == ["plugin"]:
        return plugin_main(sys.argv[2:], host=make_host())
    parser = argparse.ArgumentParser("greeter", description="Greet people.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("hello", help="greet NAME").add_argument("name")
    commands.add_parser("plugin", help="see, approve and call plugins", add_help=False)
    arguments = parser.parse_args()
    print(greet(make_host(), arguments.name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
