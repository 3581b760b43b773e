"""The policy becomes nearly deterministic early in training."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class EntropyCollapse(Rule):
    """The policy becomes nearly deterministic while the return is still low.

    ## What it checks
    The relative entropy of the policy (entropy over the most it could be) falls below a small floor in the first part
    of the run and stays there, while the return is not better than at the start.

    ## Why it matters
    A policy that always takes the same action collects no evidence about the others: it cannot get better any more.

    ## Likely causes
    1. No exploration mechanism: the entropy term is missing, or enters the loss with the wrong sign. Confirm: print the
       entropy term; a loss that is minimised must contain *minus* the entropy.
    2. Rewards, and so advantages, are far larger than the entropy bonus. Confirm: compare `advantage/std` with the
       entropy coefficient; normalise the advantages.
    3. The learning rate is too high for the policy. Confirm: `policy/kl` and `policy/clip_fraction` are large early.

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

    floor: float = 0.05  # share of the maximum entropy
    within: float = 0.5  # share of the run in which the collapse counts as early
    readings: int = 20  # fewer cannot show that it lasts
    gain: float = 0.25  # a return risen by this share of its own spread excuses a collapse

    def check(self, evidence: Run) -> Iterator[Finding]:
        entropy = evidence["policy/entropy_rel"].finite
        if len(entropy) < self.readings:
            raise NotEnough(f"{len(entropy)} readings of the entropy, needs {self.readings}")
        smooth = entropy.ema(half_life=3)
        low = smooth.at(smooth.value < self.floor)
        if low is None or smooth.first < 4 * self.floor or smooth.tail(0.2).max() > self.floor:
            return
        if smooth.update[low] > self.within * smooth.update[-1] or self._improved(evidence):
            return
        yield self.finding(
            "policy entropy collapsed early",
            where=entropy.where(low),
            seen=f"{smooth.first:.2f} of the maximum at the start, {smooth.value[low]:.3f} at update {smooth.update[low]}, "
            f"{smooth.last:.3f} at the end; the return did not rise",
            expected=f"above {self.floor} for the first {self.within:.0%} of training",
            help="check the sign of the entropy term in the loss: what is minimised must contain minus the entropy",
        )

    def _improved(self, run: Run) -> bool:
        for name in ("episode/return_mean", "reward/per_trajectory"):
            returns = run[name].finite
            if len(returns) >= self.readings:
                spread = returns.max() - returns.min()
                return bool(returns.tail(0.25).mean() - returns.head(0.1).mean() > self.gain * spread > 0)
        return False
