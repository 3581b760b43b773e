"""The policy swings between nearly uniform and nearly deterministic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class EntropyOscillates(Rule):
    """The policy swings between near-uniform and near-deterministic.

    ## What it checks
    How often the relative entropy of the policy crosses from the lowest quarter of its range [0, 1] to the highest and
    back. Small batches are left out: on a few rows the entropy depends on which states happen to be in them.

    ## Why it matters
    Each swing undoes what the last one learned. The steps are larger than the region in which the gradient means
    anything.

    ## Likely causes
    1. The learning rate is too high. Confirm: `step/log10_ratio` above −1.5, `policy/kl` far above 0.1.
    2. A large entropy bonus fights large advantages: whichever is ahead overshoots. Confirm: the swings stop with the
       entropy coefficient at 0 or with normalised advantages.
    3. The gradient is not clipped and single batches dominate. Confirm: `grad/norm` has peaks a hundred times its
       median.

    ## What to try first
    Divide the learning rate by ten.

    ## When it is fine
    Training alternates between tasks or players with policies of different certainty.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (entropy that oscillates wildly).
    """

    code: ClassVar[str] = "ENT003"
    name: ClassVar[str] = "entropy-oscillates"
    severity: ClassVar[Severity] = "warning"
    needs: ClassVar[tuple[str, ...]] = ("policy/entropy_rel", "batch/rows")
    follows: ClassVar[tuple[str, ...]] = (
        "ACT003",
        "NET006",
        "OPT004",
        "OPT008",
        "POL005",
        "POL007",
    )
    aftermath: ClassVar[bool] = True

    low: float = 0.25  # share of the maximum entropy, below which a swing has reached the bottom
    high: float = 0.75  # and above which it has reached the top
    swings: int = 8  # crossings from one to the other
    rows: int = 32  # in a batch; on fewer the entropy is that of a few states
    readings: int = 40  # of the entropy

    def check(self, evidence: Run) -> Iterator[Finding]:
        entropy = evidence["policy/entropy_rel"].finite
        if len(entropy) < self.readings:
            raise NotEnough(f"{len(entropy)} readings of the entropy, needs {self.readings}")
        rows = evidence["batch/rows"].quantile(0.1)
        if rows < self.rows:
            raise NotEnough(f"batches of {rows:.0f} rows, needs {self.rows}")
        crossed = []
        side = 0
        for i, value in enumerate(entropy.value):
            now = -1 if value < self.low else 1 if value > self.high else side
            if side and now != side:
                crossed.append(i)
            side = now
        if len(crossed) < self.swings or entropy.update[crossed[-1]] < 0.5 * entropy.update[-1]:
            return
        yield self.finding(
            "policy entropy swings from one end of its range to the other",
            where=entropy.where(crossed[0]),
            seen=f"{len(crossed)} crossings between {self.low} and {self.high} of the maximum, from update "
            f"{entropy.update[crossed[0]]} to {entropy.update[crossed[-1]]}; lowest {entropy.min():.3f}, "
            f"highest {entropy.max():.3f}",
            expected=f"a fall that levels out, fewer than {self.swings} crossings",
            help="divide the learning rate by ten",
            confidence=0.75,
        )
