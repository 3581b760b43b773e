"""The ratio of a surrogate is clipped on one side only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.surrogates import Surrogate, surrogates
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ClipWithoutOneBound(Rule):
    """The ratio of a surrogate is clipped on one side only.

    ## What it checks
    The bounds that the ratio is clamped to, as they are in the graph of the loss, where the smaller of the clipped and
    the unclipped objective is taken: one of the two is missing, or a lower one is not above 0, where no ratio ever is.

    ## Why it matters
    With the smaller of two objectives the upper bound holds back actions that turned out well, and the lower one those
    that turned out badly. Without the one or the other the policy runs away from the data on that side.

    ## Likely causes
    1. `clamp(max=1 + eps)`, or `clamp(min=1 - eps)`. Confirm: read the line.
    2. The lower bound is `-eps`, or 0, for `1 - eps`. Confirm: print both bounds.

    ## What to try first
    `ratio.clamp(1 - eps, 1 + eps)`.

    ## When it is fine
    Where weights are truncated to keep their variance small, and no minimum is taken: that is not judged.

    ## References
    Schulman et al., *Proximal Policy Optimization Algorithms* (2017).
    """

    code: ClassVar[str] = "POL310"
    name: ClassVar[str] = "clip-without-one-bound"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    losses: int = 4  # with advantages of both signs

    def check(self, evidence: Script) -> Iterator[Finding]:
        clipped = [each for each in surrogates(evidence) if _clipped(each)]
        if len(clipped) < self.losses:
            raise NotEnough(f"{len(clipped)} losses with a clipped ratio, needs {self.losses}")
        for side, missing in (("lower", _no_lower), ("upper", _no_upper)):
            if all(missing(*each.term["clip"]) for each in clipped):
                low, high = clipped[0].term["clip"]
                yield self.finding(
                    f"the {side} bound of the clipped ratio is missing",
                    where=clipped[0].term.where,
                    seen=f"bounds {low} and {high} in {len(clipped)} of {len(clipped)} losses",
                    expected="1 − ε and 1 + ε",
                    help="clamp the ratio between 1 - eps and 1 + eps",
                    confidence=0.9,
                )
                return


def _clipped(each: Surrogate) -> bool:
    """Beside the unclipped one. Bounds may be read off advantages, which tell one bound for each sign."""
    advantage, clip = each.advantage, each.term.get("clip")
    if each.ratio is None or not clip or not each.term.get("nested") or advantage is None:
        return False
    known = [bound for bound in clip if bound is not None]
    return bool((advantage > 0).any() and (advantage < 0).any() and known and (clip[1] is None or clip[1] >= 1.0))


def _no_lower(low: float | None, high: float | None) -> bool:
    return high is not None and (low is None or low <= 0.0)


def _no_upper(low: float | None, high: float | None) -> bool:
    return low is not None and high is None
