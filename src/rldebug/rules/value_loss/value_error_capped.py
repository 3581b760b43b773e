"""The squared error of the value is capped, and most rows lie beyond the cap: they push nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ValueErrorCapped(Rule):
    """The squared error of the value is capped, and most rows are beyond.

    ## What it checks
    Value losses in which some rows push nothing, and those are just the rows with the largest errors, in every batch:
    the squared error is clamped from above. The share of such rows, in the later audits too.

    ## Why it matters
    A clamp has no gradient beyond its bound. It is the rows that are furthest off from which nothing is learned, and
    the value stays away from the returns for as long as they are larger than the bound lets through.

    ## Likely causes
    1. `vf_clip_param` of RLlib's PPO: 10 by default, that is an error of 3.2, whatever the returns are. Confirm:
       compare `vf_loss_unclipped` with `vf_loss` in the results.
    2. A `clamp` of the loss against outliers, or against infinity. Confirm: read the line.

    ## What to try first
    Raise the bound above the squared size of the returns, or use a Huber loss, whose gradient is bounded and not gone.

    ## When it is fine
    Where advantages hardly depend on the value: λ near 1 and whole episodes.

    ## References
    RLlib, `PPOConfig.training(vf_clip_param=…)` ("sensitive to the scale of the rewards").
    """

    code: ClassVar[str] = "VAL393"
    name: ClassVar[str] = "value-error-capped"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "Script"

    losses: int = 6  # with capped rows, over two audits
    share: float = 0.5  # of the rows of a loss are beyond the cap

    def check(self, evidence: Script) -> Iterator[Finding]:
        known = 0
        found: list[tuple[int, Event, float, float]] = []
        for audit in evidence.audits:
            for term in audit.terms("regression"):
                capped = _capped(term)
                known += capped is not None
                if capped is not None and capped[0] >= self.share:
                    found.append((audit.number, term, *capped))
        if not known:
            raise NotEnough("no value loss was seen in which rows push nothing")
        if len(found) < max(self.losses, 0.5 * known) or len({number for number, *_ in found}) < 2:
            return
        _, term, share, cap = found[-1]
        yield self.finding(
            "most rows of the value loss are beyond its cap, and push nothing",
            where=term.where,
            seen=f"{share:.0%} of the rows, those with a squared error above about {cap:.3g}; so in {len(found)} of "
            f"{known} losses",
            expected="a gradient from the rows that are furthest off",
            help="raise the bound above the squared size of the returns (vf_clip_param, in RLlib)",
            confidence=0.9,
        )


def _capped(term: Event) -> tuple[float, float] | None:
    """The share of rows that push nothing, and the largest error that does, where the two lie apart."""
    arrays = term.arrays
    if not {"prediction", "target", "mask"} <= arrays.keys():
        return None
    value, target, mask = (np.ravel(arrays[name]).astype(np.float64) for name in ("prediction", "target", "mask"))
    if not len(value) == len(target) == len(mask) or mask.all() or len(mask) < 16 or mask.sum() < 2:
        return None
    error = (value - target) ** 2
    largest, left_out = float(error[mask > 0].max()), error[mask == 0]
    return (float(np.mean(mask == 0)), largest) if left_out.min() >= largest else None
