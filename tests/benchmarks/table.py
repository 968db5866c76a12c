"""The one table of a run, and the page of the documentation that it becomes."""

from __future__ import annotations

import os
import platform
import sys
import sysconfig
from collections.abc import Iterable, Sequence
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path

from attrs import define, field, frozen

from tests.benchmarks.paired import Ratio, Times

#: How much a ratio may miss its aim before the run fails: shared machines are noisy.
SLACK = 1.5

INTRODUCTION = """\
# Performance

`make bench` measured what stands here and wrote this page; nothing in it is typed by hand.

Only ratios are worth comparing: the absolute times belong to one machine, whose clock is
not even steady. What is compared runs in turn, within every round of one run, after all
`.pyc` files were compiled; the ratio is taken within each round, and the table shows the
median over the rounds with the 95 % interval of that median. *Floor* is the least that
the operating system or the interpreter takes for the same work, without lionplug; the
other things that lionplug is compared with are named. A ratio meets its aim or misses it;
where an aim is within reach, `make bench` fails if the ratio misses it by more than half.
The implementation of the plugin format in `lionagi` is measured too if
`LIONPLUG_BENCH_REFERENCE` names a Python interpreter that has it.
"""


@frozen
class AtMost:
    """An upper bound.

    :ivar gate: Whether a run fails that is far above it.
    """

    value: float
    gate: bool = True

    def is_met(self, ratio: float, slack: float = 1.0) -> bool:
        return ratio <= self.value * slack

    def __str__(self) -> str:
        return f"≤ {plain(self.value)}"


@frozen
class AtLeast:
    """A lower bound.

    :ivar gate: Whether a run fails that is far below it.
    """

    value: float
    gate: bool = True

    def is_met(self, ratio: float, slack: float = 1.0) -> bool:
        return ratio * slack >= self.value

    def __str__(self) -> str:
        return f"≥ {plain(self.value)}"


@frozen(kw_only=True)
class Row:
    """One measure.

    :ivar section: Heading that it stands under.
    :ivar measure: What was measured.
    :ivar against: What it is divided by.
    :ivar ratio: The result.
    :ivar times: Median seconds of what was measured and of what it is compared with.
    :ivar aim: What was aimed at; ``None`` where a figure is only reported.
    """

    section: str
    measure: str
    against: str
    ratio: Ratio
    times: tuple[float, float]
    aim: AtMost | AtLeast | None

    def failure(self) -> str | None:
        """Say by how much the aim is missed, if that is enough for the run to fail."""
        aim = self.aim
        if aim is None or not aim.gate or aim.is_met(self.ratio.value, SLACK):
            return None
        return f"{self.measure}, against {self.against}: {plain(self.ratio.value)}, aim {aim}"

    def cells(self) -> list[str]:
        """Return the cells of its row."""
        ratio = self.ratio
        verdict = "-"
        if self.aim is not None:
            verdict = f"{self.aim}: {'met' if self.aim.is_met(ratio.value) else 'missed'}"
        if ratio.low == ratio.high:
            interval = plain(ratio.value)
        else:
            interval = f"{plain(ratio.value)} ({plain(ratio.low)} to {plain(ratio.high)})"
        return [
            self.measure,
            self.against,
            interval,
            verdict,
            f"{duration(self.times[0])} / {duration(self.times[1])}",
            str(ratio.rounds),
        ]


HEAD = ["measure", "compared with", "ratio (95 %)", "aim", "median times", "rounds"]


@define
class Table:
    """Collects the rows of a run."""

    rows: list[Row] = field(factory=list)

    def add(
        self,
        section: str,
        measure: str,
        against: str,
        ratio: Ratio,
        times: tuple[float, float],
        aim: AtMost | AtLeast | None = None,
    ) -> None:
        """Keep a row."""
        self.rows.append(
            Row(
                section=section,
                measure=measure,
                against=against,
                ratio=ratio,
                times=times,
                aim=aim,
            )
        )

    def compare(
        self,
        section: str,
        names: tuple[str, str],
        texts: tuple[str, str],
        times: Times,
        aim: AtMost | AtLeast | None = None,
    ) -> None:
        """Keep the plain quotient of two samples.

        :param names: Names of the samples: what was measured, and what it is divided by.
        :param texts: The same in words.
        """
        top, bottom = names
        self.add(
            section,
            *texts,
            times.ratio(lambda one: one[top] / one[bottom]),
            (times.median(top), times.median(bottom)),
            aim,
        )

    def sections(self) -> list[str]:
        """Return the headings, in order of their first rows."""
        return list(dict.fromkeys(row.section for row in self.rows))

    def text(self) -> str:
        """Return the table for a terminal."""
        lines = [HEAD]
        for section in self.sections():
            lines.append([f"-- {section}"])
            lines += [row.cells() for row in self.rows if row.section == section]
        full = [line for line in lines if len(line) == len(HEAD)]
        widths = [max(map(len, column)) for column in zip(*full, strict=True)]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=False)).rstrip()
            for line in lines
        )

    def page(self) -> str:
        """Return the page of the documentation, in Markdown."""
        parts = [INTRODUCTION, "## Machine\n\n" + _bullets(machine())]
        for section in self.sections():
            rows = [row.cells() for row in self.rows if row.section == section]
            parts.append(f"## {section}\n\n" + _markdown([HEAD, ["---"] * len(HEAD), *rows]))
        return "\n".join(parts)


def _markdown(lines: Iterable[Sequence[str]]) -> str:
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def _bullets(facts: Iterable[tuple[str, str]]) -> str:
    return "".join(f"- {name}: {value}\n" for name, value in facts)


def plain(number: float) -> str:
    """Return a ratio with two or three significant digits."""
    size = abs(number)
    if size >= 100:
        return f"{number:,.0f}"
    if size >= 10:
        return f"{number:.1f}"
    return f"{number:.2f}" if size >= 0.1 else f"{number:.3f}"


def duration(seconds: float) -> str:
    """Return a time with a fitting unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if abs(seconds) >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def machine() -> list[tuple[str, str]]:
    """Describe where and with what was measured."""
    flags = sysconfig.get_config_var("CONFIG_ARGS") or ""
    optimised = [name for name in ("--enable-optimizations", "--with-lto") if name in flags]
    names = ("pluggy", "PyYAML", "click", "attrs")
    return [
        ("date", datetime.now(timezone.utc).date().isoformat()),
        ("processor", f"{_processor()}, {os.cpu_count()} cores"),
        ("system", f"{platform.system()} {platform.release()}, {platform.machine()}"),
        (
            "Python",
            f"{platform.python_implementation()} {platform.python_version()}, "
            f"{platform.python_compiler()}, "
            + (" ".join(optimised) or "built without profile-guided or link-time optimisation"),
        ),
        ("packages", ", ".join(f"{name} {version(name)}" for name in names)),
        ("load", f"{os.getloadavg()[0]:.1f} processes on average in the last minute of the run"),
    ]


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or sys.platform
