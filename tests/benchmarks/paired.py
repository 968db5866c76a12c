"""Paired measuring: what is compared runs in turn, in every round, and only ratios count.

The clock of a shared machine changes its speed by a factor of two from one moment to the
next. Two things measured a few milliseconds apart see the same speed, so the ratio is
taken within each round, and the median over the rounds is reported.
"""

from __future__ import annotations

import gc
import subprocess
from collections.abc import Callable, Mapping, Sequence
from math import comb
from pathlib import Path
from statistics import median
from time import perf_counter
from timeit import Timer
from typing import Any

from attrs import frozen

#: Runs something and returns the seconds that one time took.
Sample = Callable[[], float]

#: Seconds by name, of one round.
Round = Mapping[str, float]

#: Fewer rounds give no median worth reporting.
FEWEST = 15


@frozen
class Ratio:
    """The median of the ratios of all rounds.

    :ivar value: The median.
    :ivar low: Lower end of its 95 % interval.
    :ivar high: Upper end.
    :ivar rounds: Number of rounds.
    """

    value: float
    low: float
    high: float
    rounds: int


@frozen
class Times:
    """What a run measured, round by round."""

    rounds: tuple[Round, ...]

    def median(self, name: str) -> float:
        """Return the median seconds of one sample."""
        return self.middle(lambda one: one[name])

    def middle(self, of: Callable[[Round], float]) -> float:
        """Return the median of seconds worked out within each round."""
        return median(map(of, self.rounds))

    def ratio(self, of: Callable[[Round], float]) -> Ratio:
        """Return the median of a ratio, worked out within each round.

        :param of: The ratio of one round.
        """
        values = sorted(map(of, self.rounds))
        count = len(values)
        cut = _cut(count)
        return Ratio(median(values), values[cut], values[count - 1 - cut], count)


def _cut(count: int) -> int:
    """Return how many of ``count`` sorted values lie outside the interval, at each end.

    The interval from the k-th smallest to the k-th largest value holds the median of the
    distribution, whatever that is, unless fewer than k values fell on one side of it:
    which is a matter of tossing a coin ``count`` times.
    """
    outside, cut = 0.0, 0
    while 2 * (outside + comb(count, cut) / 2**count) <= 0.05:
        outside += comb(count, cut) / 2**count
        cut += 1
    return max(cut - 1, 0)


def interleave(samples: Mapping[str, Sample], rounds: int = FEWEST, warm_up: int = 1) -> Times:
    """Run every sample once in each round, beginning with another one each time.

    :param samples: What to measure, by name.
    :param rounds: At least :data:`FEWEST`.
    :param warm_up: Rounds that are run first and not counted.
    """
    if rounds < FEWEST:
        raise ValueError(f"{rounds} rounds are too few; at least {FEWEST}")
    names = list(samples)
    kept: list[Round] = []
    for number in range(-warm_up, rounds):
        turn = number % len(names)
        found = {name: samples[name]() for name in names[turn:] + names[:turn]}
        if number >= 0:
            kept.append(found)
    return Times(tuple(kept))


def loop(statement: str, calls: int, **names: Any) -> Sample:
    """Return a sample of a statement of microseconds: many runs, without the garbage collector.

    :param names: What the statement may use.
    """
    timer = Timer(statement, globals=names)
    return lambda: timer.timeit(calls) / calls


def once(function: Callable[[], object], before: Callable[[], object] | None = None) -> Sample:
    """Return a sample of a function of milliseconds: one run, on a clean heap.

    :param before: Run first, not measured.
    """

    def sample() -> float:
        if before is not None:
            before()
        gc.collect()
        began = perf_counter()
        function()
        return perf_counter() - began

    return sample


def process(argv: Sequence[str], env: Mapping[str, str], cwd: Path) -> Sample:
    """Return a sample of a whole process that must succeed; its output is thrown away."""

    def sample() -> float:
        began = perf_counter()
        done = subprocess.run(
            argv, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False
        )
        seconds = perf_counter() - began
        if done.returncode != 0:
            raise RuntimeError(f"{argv} ended with exit code {done.returncode}")
        return seconds

    return sample
