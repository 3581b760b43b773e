"""The agent ends up worse than it began."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ReturnBelowStart(Rule):
    """The agent is trained to be worse than it was at the start.

    ## What it checks
    Returns of the second half of the run against those of the run's own beginning, when the policy was still untrained:
    lower by about the spread of the first returns, in every part of the second half, not recovering, never better in
    between, and far beyond what chance can do with that many episodes.

    ## Why it matters
    An agent that learns nothing stays where it began. One that gets steadily worse does learn: the opposite.

    ## Likely causes
    1. A sign is turned somewhere between reward and loss: the policy loss, the advantage, the reward, or the entropy
       term. Confirm: `reward-handed-over-differs`, `loss/policy_flipped_mismatch`, `advantage/residual_corr`.
    2. Rewards or advantages belong to other rows than the actions. Confirm: `advantage/residual_corr` is near 0.
    3. The learning rate is so high that the first updates wreck the policy for good. Confirm: `policy/kl` and
       `step/log10_ratio` in the first updates; lower the rate tenfold.

    ## What to try first
    Check the sign of the policy loss: what is minimised is minus the log-probability times the advantage.

    ## When it is fine
    Value-based methods often act worse than at random before they act better; for them this is a note.

    ## References
    Tambon et al., *Mutation Testing of Deep Reinforcement Learning* (incorrect loss function: returns far below
    random).
    """

    code: ClassVar[str] = "EVA001"
    name: ClassVar[str] = "return-below-start"
    severity: ClassVar[Severity] = "warning"
    needs: ClassVar[tuple[str, ...]] = ("episode/return_mean", "episode/return_std", "episode/count")
    symptom: ClassVar[bool] = True

    start: float = 0.1  # share of the run that may be needed for the first episodes
    first_episodes: int = 20  # of the untrained policy
    last_episodes: int = 100  # in the second half of the run
    drop: float = 0.8  # of the spread of the first returns
    every: float = 0.5  # of that spread, in each quarter of the second half
    errors: float = 4.0  # standard errors of the difference

    def check(self, evidence: Run) -> Iterator[Finding]:
        mean, std, count = (
            evidence[f"episode/{name}"].finite for name in ("return_mean", "return_std", "count")
        )  # fmt: skip
        count = count.keep(np.isin(count.update, mean.update))
        if not len(mean) or not len(mean) == len(std) == len(count):
            raise NotEnough("no episode has ended")
        share = (mean.update - mean.update[0]) / max(int(mean.update[-1] - mean.update[0]), 1)
        enough = int(np.searchsorted(np.cumsum(count.value), self.first_episodes))
        if enough >= len(mean) or share[enough] > self.start:
            raise NotEnough(f"fewer than {self.first_episodes} episodes ended in the first {self.start:.0%} of the run")
        rows = np.stack([mean.value, std.value, count.value])
        first, late = rows[:, : enough + 1], rows[:, share >= 0.5]
        if late[2].sum() < self.last_episodes:
            raise NotEnough(f"{late[2].sum():.0f} episodes in the second half, needs {self.last_episodes}")
        began, spread, n_first = _pool(first)
        ended, late_spread, n_late = _pool(late)
        error = np.sqrt(spread**2 / n_first + late_spread**2 / n_late)
        fallen = began - ended
        if not (fallen > self.drop * spread > 0 and fallen > self.errors * error):
            return
        quarters = [_pool(rows[:, (share >= a) & (share <= a + 0.125)])[0] for a in (0.5, 0.625, 0.75, 0.875)]
        eighths = [_pool(rows[:, (share >= a) & (share <= a + 0.125)])[0] for a in np.arange(0.0, 0.5, 0.125)]
        if not all(each < began - self.every * spread for each in quarters):
            return  # a part without episodes is NaN, and no witness
        if quarters[-1] > quarters[0] + 0.25 * spread or any(each > began + 0.5 * spread for each in eighths):
            return
        off_policy = any(name.startswith("replay/") for name in evidence.series) or "exploration/epsilon" in evidence
        off_policy |= bool(evidence.meta.get("off_policy"))  # of a log, where no replay was seen
        # Of values alone: they dip before they rise.
        off_policy |= "loss/value" in evidence and "loss/policy" not in evidence
        yield self.finding(
            "the return has fallen below that of the untrained policy",
            where=mean.where(int(np.argmax(share >= 0.5))),
            seen=f"{began:.4g} ± {spread:.2g} over the first {n_first:.0f} episodes, {ended:.4g} ± {late_spread:.2g} "
            f"over the last {n_late:.0f}",
            expected=f"at least about {began:.4g}, what the untrained policy got",
            help="check the signs between reward and policy loss: what is minimised is −log π · advantage",
            confidence=0.5 if off_policy else 0.7,
            severity="note" if off_policy else "warning",
        )


def _pool(rows: NDArray[np.float64]) -> tuple[float, float, float]:
    """Mean, standard deviation and number of all episodes, from those of groups of them."""
    means, spreads, counts = rows
    total = float(counts.sum())
    if total == 0:
        return float("nan"), float("nan"), 0.0
    mean = float((means * counts).sum() / total)
    square = float(((spreads**2 + (means - mean) ** 2) * counts).sum() / total)
    return mean, float(np.sqrt(square)), total
