"""The first number of a run that is not finite, and who produced it: the earliest stage of the data flow that has one.

After NaN has reached the weights, everything is NaN. So only the first bad reading counts, and in it only the stage
furthest upstream: observation → reward → network output → target → advantage → loss → gradient → weight.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rldebug.evidence.run import Reading, Run, Series

STAGES = ("observation", "reward", "network output", "target", "advantage", "loss", "gradient", "weight")

_MEANS = {  # not finite exactly where the data is not
    "obs/mean": "observation",
    "replay/obs_mean": "observation",
    "reward/mean": "reward",
    "replay/reward_mean": "reward",
    "episode/reward_sum": "reward",
    "rollout/value_mean": "network output",
    "value/mean": "network output",
    "policy/entropy": "network output",
    "target/mean": "target",
    "advantage/mean": "advantage",
    "grad/norm": "gradient",
    "weight/norm": "weight",
}
_ONLY_NAN = {  # infinite in healthy runs too: the exponential of a large log-ratio, the log-prob of a narrow density
    "rollout/logp_max": "network output",
    "policy/ratio_mean": "network output",
}
_SHARES = {"env/obs_nonfinite": "observation", "env/action_nonfinite": "network output"}
_CRASH = re.compile(r"(found invalid values|probability tensor contains)[\s\S]*\b(nan|inf)\b", re.IGNORECASE)


@dataclass(frozen=True)
class FirstNonfinite:
    """Where it was first seen. `last_clean` is the reading before: what lies between the two was not recorded."""

    stage: str
    reading: Reading
    last_clean: Reading | None
    series: str
    value: float
    also: tuple[str, ...] = ()  # stages further down that are not finite in the same reading either
    sure: bool = True  # everything upstream of the stage is known to have been finite
    spread: bool | None = None  # whether stages further down became non-finite too; None: none of them is recorded
    error: str | None = None  # the exception that ended the run, where that is all there is to see

    @property
    def seen(self) -> str:
        """The evidence in one sentence."""
        if self.error is not None:
            return f"the run ended with “{self.error}” after update {self.reading.update}; no reading before it was bad"
        text = f"{self.series} is {self.value} at update {self.reading.update}"
        if self.series in _SHARES:
            text = f"{self.series} is {self.value:.0%} of the steps looked at, at update {self.reading.update}"
        if self.last_clean is not None:
            text += f"; all finite at update {self.last_clean.update}"
        if self.also:
            text += f"; in the same reading also: {', '.join(self.also)}"
        if not self.sure:
            text += "; the updates in between were not recorded, so an earlier stage or the weights may have been first"
        if self.spread is False:
            text += "; what is computed from it stayed finite"
        return text

    @property
    def confidence(self) -> float:
        return 0.6 if not self.sure else 0.95


def first_nonfinite(run: Run) -> FirstNonfinite | None:
    """Walk the readings in order; None where all of them are finite."""
    if any(_suspicious(name, series) for name, series in run.series.items()):
        for i, reading in enumerate(run.readings):
            bad = _bad(reading)
            if bad:
                return _blame(run, i, bad)
    error = run.meta.get("error")
    if isinstance(error, str) and run.readings and _CRASH.search(error):
        last = run.readings[-1]
        text = " ".join(error.split())
        short = text if len(text) <= 96 else text[:95] + "…"
        return FirstNonfinite("network output", last, last, "error", math.nan, sure=False, error=short)
    return None


def nonfinite_at(run: Run, stage: str) -> FirstNonfinite | None:
    """What was found first, if this stage is to blame. On one reading alone (a trap) each stage answers for itself."""
    if len(run.readings) == 1:
        bad = _bad(run.readings[0])
        if stage not in bad:
            return None
        series, value = bad[stage]
        below = _below(stage)
        spread = any(each in bad for each in below) or (None if not _recorded(run.readings[0], below) else False)
        return FirstNonfinite(stage, run.readings[0], None, series, value, _also(stage, bad), spread=spread)
    found = first_nonfinite(run)
    return found if found is not None and found.stage == stage else None


def recorded(run: Run, stage: str) -> bool:
    """Whether there is any reading of this stage."""
    return any(_recorded(each, (stage,)) for each in run.readings)


def _blame(run: Run, index: int, bad: dict[str, tuple[str, float]]) -> FirstNonfinite:
    reading = run.readings[index]
    clean = run.readings[index - 1] if index else None
    stage = next(each for each in STAGES if each in bad)
    # Lines of a log may stand for many updates each.
    adjacent = reading.update - (clean.update if clean else -1) <= 1 and "log" not in run.meta
    network_was_fine = adjacent or ("weight" not in bad and _recorded(reading, ("weight",)))
    if stage in ("observation", "reward"):
        sure = True
        if not network_was_fine and reading.numbers.get("env/action_nonfinite", 0.0) > 0:
            # An environment that is fed NaN gives NaN back: the weights may have been first.
            stage, sure = "network output", False
    elif stage == "network output":
        sure = network_was_fine
    else:
        sure = network_was_fine or _recorded(reading, ("network output",))
    series, value = bad[stage]
    below = _below(stage)
    later = run.readings[index:]
    spread: bool | None = None
    if any(each in _bad(other) for other in later for each in below):
        spread = True
    elif any(_recorded(other, below) for other in later):
        spread = False
    return FirstNonfinite(stage, reading, clean, series, value, _also(stage, bad), sure, spread)


def _bad(reading: Reading) -> dict[str, tuple[str, float]]:
    """Stage → the first of its readings that is not finite, and its value."""
    found: dict[str, tuple[str, float]] = {}
    for name, stage in _stages(reading):
        value = reading.numbers[name]
        if name in _SHARES:
            hit = value > 0
        elif name in _ONLY_NAN:
            hit = math.isnan(value)
        else:
            hit = not math.isfinite(value)
        if hit and stage == "gradient":
            # Mixed precision: a step whose scaled gradients overflowed is skipped, and all is well.
            hit = reading.numbers.get(name.replace("grad/norm", "step/norm")) != 0.0
        if hit:
            found.setdefault(stage, (name, value))
    return found


def _suspicious(name: str, series: Series) -> bool:
    """A quick look at a whole series, since nearly every run is clean."""
    if _stage(name) is None:
        return False
    return bool((series.value > 0).any() if name in _SHARES else not np.isfinite(series.value).all())


def _stage(name: str) -> str | None:
    base = name.partition("@")[0]
    stage = _MEANS.get(base) or _ONLY_NAN.get(base) or _SHARES.get(base)
    if stage is None and name.startswith("loss/") and not name.endswith("_mismatch"):
        return "loss"
    return stage


def _stages(reading: Reading) -> Iterator[tuple[str, str]]:
    for name in reading.numbers:
        stage = _stage(name)
        if stage is not None:
            yield name, stage


def _recorded(reading: Reading, stages: Sequence[str]) -> bool:
    return any(stage in stages for _, stage in _stages(reading))


def _below(stage: str) -> tuple[str, ...]:
    """What is computed from this stage. Observation and reward come side by side."""
    return STAGES[max(STAGES.index(stage) + 1, 2) :]


def _also(stage: str, bad: dict[str, tuple[str, float]]) -> tuple[str, ...]:
    return tuple(each for each in STAGES[STAGES.index(stage) + 1 :] if each in bad)
