"""The ratio of new to old policy is 1 after the policy has changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class RatioAlwaysOne(Rule):
    """The ratio is exactly 1 although the policy has been stepped.

    ## What it checks
    In later minibatches on the same rollout, after optimizer steps that changed the weights, old and new log-probs are
    still the same numbers, in every update of the run.

    ## Why it matters
    A ratio of 1 clips nothing and measures nothing: what looks like PPO is plain policy gradient, repeated on data that
    is no longer its own. Divergence and clip fraction read 0 and hide it.

    ## Likely causes
    1. The old log-probs are computed in the update, with the current network. Confirm: they are not those handed over
       with the rollout (`policy/logp_from_rollout` is 0).
    2. `logp_new.detach()` was passed as the old one. Confirm: read the line that computes the ratio.
    3. The network that acts shares its weights with the one that learns, and is asked again. Confirm: compare their
       `data_ptr()`.

    ## What to try first
    Store the log-prob with the action when acting, and use the stored one.

    ## When it is fine
    One step per rollout, or gradients accumulated over all minibatches before the step: then the weights have not
    changed, and the rule stays quiet.

    ## References
    Huang et al., *The 37 Implementation Details of Proximal Policy Optimization* (2022).
    """

    code: ClassVar[str] = "POL004"
    name: ClassVar[str] = "ratio-always-one"
    severity: ClassVar[Severity] = "error"
    aim: ClassVar[str] = "ratio"
    needs: ClassVar[tuple[str, ...]] = ("policy/later_log_ratio", "step/log10_ratio")
    follows: ClassVar[tuple[str, ...]] = ("OPT306", "OPT307", "OPT318", "GRA302", "GRA304")

    readings: int = 8  # of later minibatches
    pairs: int = 3  # readings that directly follow a recorded step on the same rollout
    rounding: float = 1e-6  # of a log-probability
    moved: float = -4.0  # log10 of the relative step that must show in a log-probability

    def check(self, evidence: Run) -> Iterator[Finding]:
        later = evidence["policy/later_log_ratio"].finite
        if len(later) < self.readings:
            raise NotEnough(f"{len(later)} readings of later minibatches, needs {self.readings}")
        own = evidence["policy/logp_from_rollout"].finite
        own = own.keep(np.isin(own.update, later.update))
        # Stored log-probs that agree with a policy that was stepped: it did not move, and that is another fault.
        if later.max() > self.rounding or own.median() > 0.5 or self._still(evidence):
            return
        steps: dict[int, float] = {}
        for each in evidence.each("step/log10_ratio"):
            for at, value in zip(each.update.tolist(), each.value.tolist(), strict=True):
                steps[at] = max(value, steps.get(at, -np.inf))
        after = [steps.get(at - 1, -np.inf) for at in later.update.tolist()]
        pairs = int(np.sum(np.array(after) > self.moved))
        if pairs < self.pairs:
            raise NotEnough(f"{pairs} later minibatches right after a recorded step, needs {self.pairs}")
        told = f"; {own.median():.0%} of the old log-probs are those handed over with the rollout" if len(own) else ""
        yield self.finding(
            "old and new log-probs are the same numbers after the policy has changed",
            where=replace(evidence.call("update"), update=int(later.update[0]), env_step=int(later.env_step[0])),
            seen=f"max |log ratio| {later.max():.1e} in all of {len(later)} later minibatches, {pairs} of them right "
            f"after steps of 10^{max(after):.1f} of the weights{told}",
            expected="above 1e-4 after a step: the old log-probs are those of the policy that acted",
            help="store the log-prob with the action when acting, and compute the ratio against the stored one",
            confidence=0.97,
        )

    def _still(self, run: Run) -> bool:
        """Whether the policy itself hardly moved, or is not reached by its loss: then a ratio of 1 is right."""
        reached = [
            each["policy"]["policy"]["reached"]
            for _, each in run.facts("reach")
            if each.get("policy", {}).get("policy")
        ]
        if reached and not any(reached):
            return True
        shares = []
        for reading in run.readings:
            for name, table in reading.tables.items():
                rows = [cells for row, cells in table.items() if row.startswith("policy.")]
                if name.split("@")[0] == "parameters" and rows:
                    # All of them together: a bias that started at 0 moves by all of itself in its first step.
                    step, weight = (np.linalg.norm([cells[i] for cells in rows]) for i in (3, 4))
                    shares.append(float(step / max(weight, 1e-12)))
        return bool(shares) and not max(shares) > 10**self.moved
