"""Two wrappers do the same thing one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_contract import EnvContract
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule

_HARMFUL = ("skips frames", "stacks frames", "normalises observations", "normalises rewards")


@dataclass(frozen=True, kw_only=True)
class WrapperAppliedTwice(Rule):
    """Two wrappers do the same thing one after the other.

    ## What it checks
    What each wrapper was seen to do: frames are skipped, frames are stacked, observations or rewards are normalised by
    running statistics, by two of them. Two time limits are a note.

    ## Why it matters
    Four frames skipped four times are sixteen: the agent acts four times a second. A stack of stacks shows the same
    frames again and again, and the second normaliser normalises what has no scale left.

    ## Likely causes
    1. The function that makes the environment wraps it, and the training script wraps it again. Confirm: print the
       environment: the wrapper is listed twice.
    2. The environment does it already by itself. Confirm: look at its arguments, such as `frameskip`.

    ## What to try first
    Take one of the two off.

    ## When it is fine
    It is meant.

    ## References
    Stable-Baselines, changelog 1.0.7 (normalisation of images, twice and not at all).
    """

    code: ClassVar[str] = "PRE003"
    name: ClassVar[str] = "wrapper-applied-twice"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "EnvContract"

    def check(self, evidence: EnvContract) -> Iterator[Finding]:
        if not evidence.layers:
            raise NotEnough("the wrappers could not be looked at")
        for role in (*_HARMFUL, "limits time"):
            twice = [layer for layer in evidence.layers if role in layer.roles]
            if len(twice) < 2:
                continue
            yield self.finding(
                f"two wrappers, and each {role}",
                where=twice[0].where,
                seen=" around ".join(layer.name for layer in twice),
                expected=f"one that {role}",
                help=f"take off one of {' and '.join(dict.fromkeys(layer.name for layer in twice))}",
                confidence=0.8,
                severity="warning" if role in _HARMFUL else "note",
            )
