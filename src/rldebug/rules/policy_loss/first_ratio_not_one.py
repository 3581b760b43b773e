"""Before the first step, old and new log-probs already differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class FirstRatioNotOne(Rule):
    """The ratio is not 1 before the first step on a rollout.

    ## What it checks
    In the first minibatch after a rollout nothing has been learned from it yet: the policy that learns is the policy
    that acted, and the log-probs of the same actions must agree up to rounding. Reported where they disagree in most
    rollouts, from the first on, and where the old log-probs are bit for bit those handed over with the rollout. An
    error where the disagreement is large for many rows, else a warning. A policy that starts exactly uniform gives all
    actions the same log-prob and could not show it in the first rollout: there it is a warning, too.

    ## Why it matters
    The ratio then measures the bug and not the progress: rows are clipped, or weighted, at random.

    ## Likely causes
    1. The stored action is not the one whose log-prob was stored: clipped, squashed, rescaled or replaced in between.
       Confirm: recompute the log-prob of the stored action right after acting.
    2. Dropout or batch normalisation behaves differently in training. Confirm: the difference is gone with
       `policy.eval()` in both places.
    3. The observation differs: normalised in one place only, with statistics that were updated in between, or stored by
       reference and overwritten. Confirm: compare the network's input at both times.
    4. A recurrent state, an action mask or a temperature is missing in one of them. Confirm: the difference is limited
       to rows after an episode's start, or to masked rows.

    ## What to try first
    Right after the rollout, compute the log-probs once more and print the largest difference.

    ## When it is fine
    Half precision (differences of a few hundredths) and actors that run behind the learner: both stay under the
    thresholds or start at 0, and are not reported.

    ## References
    Huang et al., *The 37 Implementation Details of Proximal Policy Optimization* (2022). Engstrom et al.,
    *Implementation Matters in Deep Policy Gradients* (2020).
    """

    code: ClassVar[str] = "POL005"
    name: ClassVar[str] = "first-ratio-not-one"
    severity: ClassVar[Severity] = "error"
    aim: ClassVar[str] = "scored"
    needs: ClassVar[tuple[str, ...]] = ("policy/first_log_ratio", "policy/logp_from_rollout", "policy/kl")
    follows: ClassVar[tuple[str, ...]] = ("ACT003", "NET397", "POL380", "POL381", "POL382", "POL388")

    rollouts: int = 3  # readings of first minibatches
    tolerance: float = 0.03  # nats, for the row that differs most; half precision stays below
    typical: float = 1e-5  # nats, mean of (r − 1) − log r: many rows differ, not a single one
    large: float = 0.1  # nats, for the row that differs most, from which on it is an error
    share: float = 0.8  # of the rollouts

    def check(self, evidence: Run) -> Iterator[Finding]:
        first = evidence["policy/first_log_ratio"].finite
        own = evidence["policy/logp_from_rollout"].finite
        if len(first) < self.rollouts:
            raise NotEnough(f"{len(first)} readings of first minibatches, needs {self.rollouts}")
        if not own.median() >= 0.99 or self._stale(evidence, first.update.tolist()):
            return  # the old log-probs are not those of this rollout
        kl = evidence["policy/kl"]
        kl = kl.keep(np.isin(kl.update, first.update)).finite
        bad = first.value > self.tolerance
        if np.mean(bad) < self.share or kl.median() < self.typical:
            return
        late = first.first < 1e-4
        if late and not self._uniform(evidence):
            return  # in the very first rollout all was well: an actor that runs behind the learner
        large = first.median() >= self.large and kl.median() >= 1e-3 and not late
        at = int(np.flatnonzero(bad)[0])
        yield self.finding(
            "old and new log-probs differ before the first step",
            where=replace(evidence.call("update"), update=int(first.update[at]), env_step=int(first.env_step[at])),
            seen=f"max |log ratio| {first.median():.2g} nats (median) in the first minibatch of {int(np.sum(bad))} of "
            f"{len(first)} rollouts, {kl.median():.1e} nats of divergence",
            expected="0 up to rounding (1e-5 in float32): the same policy, the same observations, the same actions",
            help="store the action as it was drawn, put the policy in the same mode, and feed it the same observation",
            confidence=0.97 if large else 0.75 if late else 0.8,
            severity=None if large else "warning",
        )

    def _stale(self, run: Run, updates: list[int]) -> bool:
        age = run["batch/staleness_mean"].finite
        return bool(age.keep(np.isin(age.update, updates)).median() > 0.5)

    def _uniform(self, run: Run) -> bool:
        """Whether the first policy gives all actions the same log-prob, so that no confusion could show."""
        entropy = run["policy/entropy_rel"].finite
        return "policy/entropy_max" in run and len(entropy) > 0 and entropy.first > 0.99999
