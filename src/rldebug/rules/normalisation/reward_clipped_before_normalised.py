"""Rewards are clipped first and normalised afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_contract import EnvContract
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class RewardClippedBeforeNormalised(Rule):
    """Rewards are clipped first and normalised afterwards.

    ## What it checks
    The order of the wrappers, from what each was seen to do: one that clips rewards stands inside of one that
    normalises them by running statistics.

    ## Why it matters
    The clip cuts the raw rewards, whose size it does not know: what is above the bound looks the same. The normaliser
    outside of it hands out numbers without a bound again.

    ## Likely causes
    1. The wrappers were put on in the wrong order. Confirm: print the environment: the innermost is applied first.

    ## What to try first
    Normalise first, then clip to about ±10.

    ## When it is fine
    The raw rewards have outliers that mean nothing, and their size is known.

    ## References
    Huang et al., *The 37 Implementation Details of Proximal Policy Optimization* (reward scaling, then clipping).
    """

    code: ClassVar[str] = "NRM004"
    name: ClassVar[str] = "reward-clipped-before-normalised"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "EnvContract"

    def check(self, evidence: EnvContract) -> Iterator[Finding]:
        if not evidence.layers:
            raise NotEnough("the wrappers could not be looked at")
        for i, outer in enumerate(evidence.layers):
            if "normalises rewards" not in outer.roles:
                continue
            for inner in evidence.layers[i + 1 :]:
                if "clips rewards" in inner.roles:
                    yield self.finding(
                        "rewards are clipped before they are normalised",
                        where=inner.where,
                        seen=f"{inner.name}, which clips rewards, stands inside of {outer.name}, which normalises them",
                        expected="the clip outside of the normaliser",
                        help=f"put {inner.name} on after {outer.name}",
                        confidence=0.8,
                    )
                    return
