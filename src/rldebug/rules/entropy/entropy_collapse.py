"""The policy becomes nearly deterministic early in training."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class EntropyCollapse(Rule):
    """The policy becomes nearly deterministic while the return is still low.

    ## What it checks
    The relative entropy of the policy (entropy over the most it could be) falls below a small floor in the first part
    of the run and stays there, while the return is not better than at the start. Where no return is known, or the
    return never varied, this is only a note.

    ## Why it matters
    A policy that always takes the same action collects no evidence about the others: it cannot get better any more.

    ## Likely causes
    1. No exploration mechanism: the entropy term is missing, or enters the loss with the wrong sign. Confirm: print the
       entropy term; a loss that is minimised must contain *minus* the entropy.
    2. Rewards, and so advantages, are far larger than the entropy bonus. Confirm: compare `advantage/std` with the
       entropy coefficient; normalise the advantages.
    3. The learning rate is too high for the policy. Confirm: `policy/kl` and `policy/clip_fraction` are large early.
    4. The policy loss has the wrong sign, so that the worst action wins. Confirm: POL007.

    ## What to try first
    Check the sign of the entropy term in the loss.

    ## When it is fine
    The task is solved by one action everywhere, or the return has already risen: then the rule stays quiet.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (relative policy entropy). Schulman, *Nuts and Bolts of Deep RL*.
    """

    code: ClassVar[str] = "ENT001"
    name: ClassVar[str] = "entropy-collapse"
    severity: ClassVar[Severity] = "warning"
    needs: ClassVar[tuple[str, ...]] = ("policy/entropy_rel",)
    follows: ClassVar[tuple[str, ...]] = (
        "ACT003",
        "ADV002",
        "ADV003",
        "ADV004",
        "ENT005",
        "NET006",
        "OPT004",
        "OPT008",
        "POL002",
        "POL005",
        "POL007",
        "POL008",
        "POL009",
    )
    aftermath: ClassVar[bool] = True

    floor: float = 0.05  # share of the maximum entropy
    within: float = 0.5  # share of the run in which the collapse counts as early
    readings: int = 20  # fewer cannot show that it lasts
    risen: float = 2.5  # standard errors by which a return above its start excuses a collapse

    def check(self, evidence: Run) -> Iterator[Finding]:
        entropy = evidence["policy/entropy_rel"].finite
        if len(entropy) < self.readings:
            raise NotEnough(f"{len(entropy)} readings of the entropy, needs {self.readings}")
        smooth = entropy.ema(half_life=3)
        low = smooth.at(smooth.value < self.floor)
        if low is None or smooth.first < 4 * self.floor or smooth.tail(0.2).max() > self.floor:
            return
        if smooth.update[low] > self.within * smooth.update[-1]:
            return
        rise = evidence["episode/return_rise"]
        returns = evidence["episode/return_mean"].finite
        if len(rise) and rise.tail(0.25).median() > self.risen:
            return
        judged = len(rise) > 0 and (not len(returns) or bool(np.ptp(returns.value) > 0))
        told = "the return did not rise" if judged else "no return says whether that is bad"
        yield self.finding(
            "policy entropy collapsed early",
            where=entropy.where(low),
            seen=f"{smooth.first:.2f} of the maximum at the start, {smooth.value[low]:.3f} at update "
            f"{smooth.update[low]}, {smooth.last:.3f} at the end; {told}",
            expected=f"above {self.floor} for the first {self.within:.0%} of training, or a return above its start",
            help="check the sign of the entropy term in the loss: what is minimised must contain minus the entropy",
            confidence=0.85 if judged else 0.5,
            severity=None if judged else "note",
        )
