"""A wrapper that must not be applied twice is around an environment twice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.worlds import name_of, wrappers
from rldebug.rule import NotEnough, Rule

# Of Gymnasium and Stable-Baselines3. What clips, casts or flattens may be there twice: the second one does nothing.
_ONCE = {
    "NormalizeObservation": "observations are normalised",
    "NormalizeReward": "rewards are normalised",
    "VecNormalize": "observations and rewards are normalised",
    "FrameStackObservation": "frames are stacked",
    "FrameStack": "frames are stacked",
    "VecFrameStack": "frames are stacked",
    "MaxAndSkipObservation": "frames are skipped",
    "MaxAndSkipEnv": "frames are skipped",
    "AtariPreprocessing": "frames are skipped",
    "AtariWrapper": "frames are skipped",
    "TimeAwareObservation": "the time is appended",
    "StickyAction": "actions are repeated",
}


@dataclass(frozen=True, kw_only=True)
class WrapperFoundTwice(Rule):
    """The same wrapper is applied twice.

    ## What it checks
    The wrappers around each environment that was stepped, by their classes: one of those libraries' wrappers that do
    something else when applied again is there twice.

    ## Why it matters
    Four frames skipped four times are sixteen. A stack of stacks shows the same frames again and again, and the second
    normaliser normalises what has no scale left.

    ## Likely causes
    1. The function that makes the environment wraps it, and the training script wraps it again. Confirm: print the
       environment.
    2. A library wraps it by itself. Confirm: the same.

    ## What to try first
    Take one of the two off.

    ## When it is fine
    It is meant.

    ## References
    Stable-Baselines, changelog 1.0.7 (normalisation of images, twice and not at all).
    """

    code: ClassVar[str] = "PRE340"
    name: ClassVar[str] = "wrapper-found-twice"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    steps: int = 1  # that were played so

    def check(self, evidence: Script) -> Iterator[Finding]:
        streams = [each for each in evidence.streams if int(each["steps"]) >= self.steps]
        if not any(wrappers(each) for each in streams):
            raise NotEnough("no environment with wrappers was stepped")
        for stream in streams:
            names = wrappers(stream)
            twice = next((each for each in _ONCE if names.count(each) > 1), None)
            if twice is None:
                continue
            yield self.finding(
                f"{_ONCE[twice]} twice",
                seen=f"{name_of(stream)} is wrapped in {' around '.join(names)}",
                expected=f"one {twice}",
                help=f"take off one {twice}",
                confidence=0.9,
            )
            return
