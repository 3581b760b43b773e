"""Of the clipped and the unclipped surrogate the wrong one is taken."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.surrogates import Surrogate, surrogates, value_of_surrogate
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class SurrogateTakesWrongBranch(Rule):
    """The clipped surrogate is not the smaller of the two.

    ## What it checks
    The value of the loss, less its other terms, is compared with what a clipped surrogate adds up to: the mean of
    min(ratio · A, clip(ratio) · A), and with three mistakes: the larger of the two; a bound on the loss that holds for
    all rows and not only for negative advantages; one side with raw and one with normalised advantages. All numbers are
    known, so one of them fits up to rounding and the others do not. Losses in which they agree say nothing.

    ## Why it matters
    The smaller one is what limits the step. The larger one removes the limit; a bound on good rows removes their
    gradient.

    ## Likely causes
    1. `max` of two gains, or `min` of two losses. Confirm: a loss needs the maximum, a gain the minimum.
    2. A dual clip that is applied to positive advantages. Confirm: it must be chosen by `advantage < 0`.
    3. The advantages are normalised between the two lines. Confirm: print their mean in both.

    ## What to try first
    `loss = torch.max(-A * ratio, -A * ratio.clamp(1 - eps, 1 + eps)).mean()`.

    ## When it is fine
    Losses with terms that cannot be recomputed are not judged.

    ## References
    Schulman et al., *Proximal Policy Optimization Algorithms* (2017). Ye et al., *Mastering Complex Control in MOBA
    Games with Deep Reinforcement Learning* (2020), for the dual clip.
    Seen in the wild: POL-02, ADV-07 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "POL303"
    name: ClassVar[str] = "surrogate-takes-wrong-branch"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "branch"

    losses: int = 3  # that tell the right one from the mistakes
    exact: float = 2e-5  # relative to the mean size of the rows
    apart: float = 5e-4  # relative too: how far a loss must be from the right one, or the two sides from one another

    def check(self, evidence: Script) -> Iterator[Finding]:
        votes: dict[str, list[Surrogate]] = {}
        judged = 0
        for each in surrogates(evidence):
            value, sides = value_of_surrogate(each), _sides(each)
            if value is None and sides is not None and self._tells(sides[1], sides[2]):
                # What else is in the loss cannot be computed; but how it is written tells which of the two is taken.
                judged += 1
                if _takes_the_larger(each):
                    votes.setdefault("the larger of the two", []).append(each)
            if value is None or sides is None:
                continue
            scale, plain, clipped, _ = sides
            size = scale * float(np.abs(plain).sum())
            right = abs(value + scale * float(np.minimum(plain, clipped).sum())) / size
            if right < self.apart:
                judged += right < self.exact and self._tells(plain, clipped)
                continue
            judged += 1
            for name, wrong in _mistakes(value, *sides):
                if abs(value + scale * float(wrong.sum())) / size < self.exact:
                    votes.setdefault(name, []).append(each)
                    break
        if judged < self.losses:
            raise NotEnough(f"{judged} losses in which the two surrogates could be told apart, needs {self.losses}")
        for name, found in votes.items():
            if len(found) >= self.losses and len(found) >= 0.7 * judged:
                message, help = _SAID[name]
                yield self.finding(
                    message,
                    where=found[0].term.where,
                    seen=f"the loss adds up to {name} in {len(found)} of {judged} losses that tell them apart",
                    expected="the mean of min(ratio · A, clip(ratio) · A), with a minus",
                    help=help,
                    confidence=0.95,
                )
                return

    def _tells(self, plain: NDArray[np.float64], clipped: NDArray[np.float64]) -> bool:
        return bool(np.abs(plain - clipped).sum() > self.apart * np.abs(plain).sum())


_SAID = {
    "the larger of the two": (
        "the surrogate takes the larger of the clipped and the unclipped side",
        "take the smaller gain (torch.min), or the larger loss (torch.max)",
    ),
    "a bound that holds for all rows": (
        "the bound of the dual clip also holds for rows with a positive advantage, which then have no gradient",
        "apply it where the advantage is negative only: torch.where(A < 0, torch.max(…, c * A), …)",
    ),
    "two different advantages": (
        "the clipped and the unclipped side are weighted with different advantages",
        "normalise the advantages once, before both lines",
    ),
}


def _takes_the_larger(each: Surrogate) -> bool:
    """−max(…) and min(…) are minimised: of two losses the smaller one counts."""
    nested, outer = each.term.get("nested"), each.term.get("outer")
    return nested in ("min", "max") and outer is not None and (nested == "max") == (float(outer) < 0)


def _sides(each: Surrogate) -> tuple[float, NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]] | None:
    """|scale|, unclipped and clipped gain of each row, and the advantages."""
    ratio, advantage, clip, term = each.ratio, each.advantage, each.term.get("clip"), each.term
    if ratio is None or advantage is None or not clip or None in clip or term.get("inverted") or not term.get("nested"):
        return None
    if not len(ratio) == len(advantage) == int(term["rows"]) or "mask" in term.arrays or len(ratio) < 8:
        return None
    if not np.abs(ratio * advantage).sum() > 0:
        return None
    return abs(float(term["scale"])), ratio * advantage, np.clip(ratio, *clip) * advantage, advantage


def _mistakes(
    value: float,
    scale: float,
    plain: NDArray[np.float64],
    clipped: NDArray[np.float64],
    advantage: NDArray[np.float64],
) -> Iterator[tuple[str, NDArray[np.float64]]]:
    yield "the larger of the two", np.maximum(plain, clipped)
    smaller = np.minimum(plain, clipped)
    good, goal = advantage > 0, -value / scale
    if good.any():
        # The bound c · A: all good rows are at it, the bad ones are above it unless their ratio is huge.
        factor = (goal - smaller[~good].sum()) / advantage[good].sum()
        written = abs(factor * 20 - round(factor * 20)) < 2e-3  # as somebody writes a number down
        if factor > 1.2 and written and (smaller[good] <= factor * advantage[good] + 1e-9).all():
            yield "a bound that holds for all rows", np.where(good, factor * advantage, smaller)
    spread = advantage.std(ddof=1)
    if spread > 0:
        ratio = np.where(advantage != 0, clipped / np.where(advantage != 0, advantage, 1), 1)
        for freedom in (0, 1):
            other = (advantage - advantage.mean()) / (advantage.std(ddof=freedom) + 1e-8)
            yield "two different advantages", np.minimum(plain, ratio * other)
