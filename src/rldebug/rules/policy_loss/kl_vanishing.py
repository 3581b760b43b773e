"""Many updates on the same data, and the policy stays where it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class KlVanishing(Rule):
    """Updates on the same data hardly move the policy.

    ## What it checks
    The largest change of any action's log-probability in the later minibatches on the same rollout. Reported where even
    the largest of nearly all updates stays below a thousandth of a nat, and yet is not exactly 0.

    ## Why it matters
    The data could teach much more than it does: the same result needs many times the environment steps.

    ## Likely causes
    1. The learning rate is too small. Confirm: `step/log10_ratio` below −5.
    2. The loss is scaled down, or the gradient clipped to a tiny norm by an optimizer that does not rescale it.
       Confirm: `grad/norm` after clipping.
    3. The policy loss hardly reaches the policy. Confirm: gradients of the policy's parameters in the table
       `parameters`.

    ## What to try first
    Multiply the learning rate by ten.

    ## When it is fine
    Fine-tuning that is meant to stay close, or a learning rate annealed to 0: the rule looks at the whole run.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (very low KL divergence).
    """

    code: ClassVar[str] = "POL003"
    name: ClassVar[str] = "kl-vanishing"
    severity: ClassVar[Severity] = "note"
    needs: ClassVar[tuple[str, ...]] = ("policy/first_log_ratio", "policy/later_log_ratio")
    follows: ClassVar[tuple[str, ...]] = (
        "GRA002",
        "GRA003",
        "GRA005",
        "GRA009",
        "NET003",
        "NET004",
        "NET005",
        "OPT001",
        "OPT003",
        "OPT007",
        "POL004",
    )

    nats: float = 1e-3  # change of a log-probability
    readings: int = 40  # of later minibatches
    updates: int = 150  # fewer say little about the run

    def check(self, evidence: Run) -> Iterator[Finding]:
        later = evidence["policy/later_log_ratio"].finite
        if len(later) < self.readings or later.updates < self.updates:
            raise NotEnough(f"{len(later)} readings of later minibatches, needs {self.readings}")
        if later.max() == 0.0 or later.quantile(0.95) > self.nats:
            return
        yield self.finding(
            "updates on the same data hardly move the policy",
            where=replace(evidence.call("update"), update=int(later.update[0]), env_step=int(later.env_step[0])),
            seen=f"largest change of a log-probability {later.median():.1e} nats (median), {later.max():.1e} at most, "
            f"in {len(later)} later minibatches",
            expected="0.01 to 1 nats",
            help="multiply the learning rate by ten",
            confidence=0.6,
        )
