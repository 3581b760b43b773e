"""The loss of a language model pushes it away from its reference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.tokens import Pass, Round, rounds
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ReferenceRepelsPolicy(Rule):
    """The loss pushes the policy away from its reference.

    ## What it checks
    Answers that are learned from before any other update: there all tokens of an answer have the same advantage. What
    differs between them is how hard the reference holds each: one that has become likelier than to the reference must
    be pushed less than the others. Here it is pushed more, in nearly all answers, and by a straight line of the
    distance down to rounding.

    ## Why it matters
    A penalty with the wrong sign pays for leaving the reference: the further away, the harder the push.

    ## Likely causes
    1. The penalty stands within the brackets of a minus: `-(surrogate + beta * kl)`. Confirm: read the sign in front.
    2. `beta` is negative. Confirm: print it.

    ## What to try first
    `loss = -surrogate + beta * kl`.

    ## When it is fine
    Never, where the other network is a reference to stay near to.

    ## References
    Shao et al. 2024, *DeepSeekMath* (GRPO), equation 4; Schulman, *Approximating KL Divergence*.
    """

    code: ClassVar[str] = "POL451"
    name: ClassVar[str] = "reference-repels-policy"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "loss"

    answers: int = 24  # with several tokens at different distances
    audits: int = 2  # in which they were learned
    exact: float = 0.97  # correlation of push and distance, in size
    share: float = 0.9  # of answers in which it is so, and upward

    def check(self, evidence: Script) -> Iterator[Finding]:
        held: list[float] = []
        seen: set[int] = set()
        where = None
        for each in rounds(evidence):
            for one in each.passes:
                found = _holds(each, one)
                held += found
                if found:
                    seen.add(each.audit.number)
                    where = where or one.call.where
        if len(held) < self.answers or len(seen) < self.audits or where is None:
            raise NotEnough(f"{len(held)} answers that a reference holds, in {len(seen)} audits, needs {self.answers}")
        upward = float((np.array(held) > self.exact).mean())
        if upward < self.share:
            return
        yield self.finding(
            "the loss pushes the policy away from its reference",
            where=where,
            seen=f"tokens that have become likelier than to the reference are pushed up the harder in {upward:.0%} of "
            f"{len(held)} answers, exactly by their distance",
            expected="tokens that are held back, the more the further they have gone",
            help="change the sign of the penalty",
            confidence=0.93,
        )


def _holds(each: Round, one: Pass) -> list[float]:
    """For each answer, how what its tokens are pushed with goes with their distance to the reference."""
    chance = one.gradient.arrays.get("chance")
    if each.reference is None or chance is None or not one.at_once or len(each.writings) != 1:
        return []
    found = []
    for row in np.flatnonzero(one.rows >= 0):
        mine = slice(one.start - 1, one.start - 1 + int(one.length[row]))
        push, own = one.coefficient[row, mine], np.asarray(chance[row, mine], dtype=np.float64)
        reference = each.reference[int(one.rows[row])][: len(own)]
        if len(reference) == len(own) == len(push) and (hold := _correlation(push, own - reference)) is not None:
            found.append(hold)
    return found


def _correlation(push: NDArray[np.float64], distance: NDArray[np.float64]) -> float | None:
    """With the derivative of exp(-d) + d - 1 or with that of a square: whichever fits better."""
    known = np.isfinite(push) & np.isfinite(distance)
    push, distance = push[known], distance[known]
    if len(push) < 4 or np.ptp(distance) < 1e-2 or push.std() < 1e-4 * (1e-9 + np.abs(push).max()):
        return None
    both = [float(np.corrcoef(push, each)[0, 1]) for each in (-np.expm1(-distance), distance)]
    return max(both, key=abs)
