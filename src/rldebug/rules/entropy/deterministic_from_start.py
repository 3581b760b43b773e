"""The very first policy already prefers one action."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class DeterministicFromStart(Rule):
    """The policy is nearly deterministic before its first update.

    ## What it checks
    The relative entropy of a discrete policy in the very first update, before any step was taken. A network that has
    learned nothing has no reason to prefer an action. A warning where the rest of the run shows that the first policy
    was not a trained one: the critic explains nothing of its first targets, and the return rises later as the policy
    becomes less certain. Else a note, because the policy may have been trained before.

    ## Why it matters
    The first rollouts decide what there is to learn from. A policy that starts certain sees one action per state, and
    its gradient, small where the softmax is saturated, takes long to bring the others back.

    ## Likely causes
    1. The last layer is not initialised small. Confirm: print the standard deviation of the logits on the first batch;
       it should be well below 1.
    2. Observations are large numbers (pixels from 0 to 255, positions in metres). Confirm: `obs/max`.
    3. The logits are multiplied by a factor, or divided by a small temperature. Confirm: read the line that builds the
       distribution.

    ## What to try first
    Initialise the last layer of the policy with a gain of 0.01.

    ## When it is fine
    The policy was trained before: imitation, fine-tuning, a run that goes on from a checkpoint.

    ## References
    Schulman, *Nuts and Bolts of Deep RL* (zero or tiny final layer). Andrychowicz et al., *What Matters in On-Policy
    Reinforcement Learning?* (initial policy).
    """

    code: ClassVar[str] = "ENT005"
    name: ClassVar[str] = "deterministic-from-start"
    severity: ClassVar[Severity] = "warning"
    needs: ClassVar[tuple[str, ...]] = ("policy/entropy_rel", "policy/entropy_max")

    least: float = 0.3  # share of the maximum entropy in the first update
    untrained: float = 0.7  # residual variance of the first value predictions, from which a critic has learned nothing
    risen: float = 3.0  # standard errors of the return above its start

    def check(self, evidence: Run) -> Iterator[Finding]:
        entropy = evidence["policy/entropy_rel"].finite
        if not len(entropy) or entropy.update[0] != 0:
            raise NotEnough("the first update has no reading of the entropy")
        if entropy.first >= self.least:
            return
        residual = evidence["value/residual_var"].finite
        rise = evidence["episode/return_rise"]
        fresh = len(residual) > 0 and residual.update[0] <= 8 and residual.first >= self.untrained
        fresh = fresh and len(rise) > 0 and rise.tail(0.3).median() > self.risen
        fresh = fresh and entropy.tail(0.5).median() > self.least
        yield self.finding(
            "the policy is nearly deterministic before its first update",
            where=replace(evidence.call("update"), update=0, env_step=int(entropy.env_step[0])),
            seen=f"{entropy.first:.3f} of the maximum entropy in the first update"
            + (
                f"; the critic leaves {residual.first:.0%} of its targets unexplained; entropy and return rise later"
                if fresh
                else ""
            ),
            expected=f"above {self.least}, near 1 for a last layer that starts small",
            help="initialise the last layer of the policy with a gain of 0.01, and check the scale of the observations",
            confidence=0.8 if fresh else 0.5,
            severity=None if fresh else "note",
        )
