"""Recorded returns are those of a clipped or normalised reward."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_contract import EnvContract
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ReturnOfAlteredReward(Rule):
    """Recorded returns are those of a clipped or normalised reward.

    ## What it checks
    The order of the wrappers, from what each was seen to do: one that records the return of episodes stands outside of
    one that clips or normalises rewards, and no other records inside.

    ## Why it matters
    The curve that is looked at is in units that nobody knows and, with a running normaliser, that change while training
    goes on. A return of clipped rewards counts points, not their worth, and cannot be compared with published ones.

    ## Likely causes
    1. The recorder was put on last. Confirm: print the environment: wrappers are listed from the outside in.
    2. A function that makes environments adds a recorder to what is already wrapped. Confirm: look at both places.

    ## What to try first
    Put the recorder directly around the environment, before any wrapper that changes rewards.

    ## When it is fine
    The return of the changed reward is wanted, for its own sake.

    ## References
    Huang et al., *The 37 Implementation Details of Proximal Policy Optimization*.
    """

    code: ClassVar[str] = "ENV027"
    name: ClassVar[str] = "return-of-altered-reward"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "EnvContract"

    def check(self, evidence: EnvContract) -> Iterator[Finding]:
        if not evidence.layers:
            raise NotEnough("the wrappers could not be looked at")
        recorders = [i for i, layer in enumerate(evidence.layers) if "records returns" in layer.roles]
        altering = [
            i for i, layer in enumerate(evidence.layers) if layer.roles & {"clips rewards", "normalises rewards"}
        ]
        if not recorders or not altering or max(recorders) > min(altering):
            return
        recorder = evidence.layers[max(recorders)]
        inner = next(evidence.layers[i] for i in altering if i > max(recorders))
        does = " and ".join(sorted(inner.roles & {"clips rewards", "normalises rewards"}))
        yield self.finding(
            "returns are recorded after the reward was altered",
            where=recorder.where,
            seen=f"{recorder.name} stands outside of {inner.name}, which {does}",
            expected=f"{inner.name} outside of {recorder.name}",
            help=f"put {recorder.name} on before {inner.name}",
            confidence=0.85,
        )
