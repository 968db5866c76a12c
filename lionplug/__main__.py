"""``python -m lionplug``: the same as the ``lionplug`` command.

``-m`` puts the working directory first on ``sys.path``. It is taken off again before
anything else is imported, because that directory may be a hostile repository
(security rule S19).
"""

import os
import sys

try:
    _here = os.getcwd()
except OSError:  # it was deleted
    _here = ""
if sys.path and sys.path[0] in ("", _here) and not getattr(sys.flags, "safe_path", False):
    del sys.path[0]

from lionplug.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
