"""The observation has another shape than the environment declares."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crash_signs import observation_unlike_space, operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ObservationUnlikeItsSpace(Rule):
    """The observation has another shape than the environment declares.

    ## What it checks
    Storing a row failed; the storage has the shape of the environment's `observation_space`, and the row has another.

    ## Why it matters
    Everything that is made from the space, the buffer and the first layer, is made for other observations.

    ## Likely causes
    1. A wrapper changes the observation without its space, or the space without the observation. Confirm: compare
       `obs.shape` with `env.observation_space.shape` behind each wrapper.
    2. An axis of length 1, as the channel of a grey image, is dropped. Confirm: the same.

    ## What to try first
    Run `rldebug env` on the environment; it names the layer.

    ## When it is fine
    Never: the program has ended.

    ## References
    Gymnasium, `check_env`.
    """

    code: ClassVar[str] = "PRE407"
    name: ClassVar[str] = "observation-unlike-its-space"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return observation_unlike_space(evidence)

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "an observation has another shape than its space",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="observations of the shape that observation_space declares",
            help="compare obs.shape with env.observation_space.shape behind each wrapper",
            confidence=0.75,
        )
