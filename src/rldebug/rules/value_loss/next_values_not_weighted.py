"""Next values are not weighted by how likely the policy is to act so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.target_settings import told
from rldebug.forensics.targets import Fit, fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class NextValuesNotWeighted(Rule):
    """Next values are not weighted by the chances of the policy.

    ## What it checks
    The formula that the targets of a critic follow, beside a policy over several actions: the next values are added up
    over all actions without the probabilities of the policy; or they are multiplied by them, and then the mean over
    the actions is taken in place of the sum. In the second case what is added is the expected value divided by the
    number of actions: the discount, as it is really applied, is one n-th of the one that was set.

    ## Why it matters
    The value of a state is what is expected under the policy, Σ π(a) Q(a). The sum without weights grows with every
    step back, the mean of the products shrinks to one n-th: neither is a return.

    ## Likely causes
    1. `(q - alpha * log_prob).sum(-1)` where `(prob * (q - alpha * log_prob)).sum(-1)` is meant. Confirm: read the
       line of the target.
    2. `.mean(-1)` after the product with the probabilities. Confirm: the same.

    ## What to try first
    `(prob * (next_q - alpha * log_prob)).sum(-1)`.

    ## When it is fine
    Never.

    ## References
    Christodoulou 2019, *Soft Actor-Critic for Discrete Action Settings*.
    """

    code: ClassVar[str] = "VAL396"
    name: ClassVar[str] = "next-values-not-weighted"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "next"

    sure: float = 0.95  # share of the targets
    near: float = 2e-3  # relative, between what is computed and what the mistake gives

    def check(self, evidence: Script) -> Iterator[Finding]:
        fits = [each for each in fit_targets(evidence) if each.what == "q" and each.audits >= 2]
        if not fits:
            raise NotEnough("the formula of no Q-target was found")
        for fit in fits:
            seen = self._wrong(evidence, fit) if fit.share >= self.sure else ""
            if seen:
                yield self.finding(
                    "next values are not weighted by the chances of the policy",
                    where=fit.where,
                    seen=f"{fit.share:.0%} of {fit.rows} targets are the reward plus {seen}",
                    expected="the sum of the next values, each times its probability",
                    help="(prob * next_q).sum(-1)",
                    confidence=0.93,
                )
                return

    def _wrong(self, script: Script, fit: Fit) -> str:
        gamma = fit.gamma or 0.0
        if fit.mistake == "summed":
            return f"{gamma:.4g} times the sum of the next values over all actions"
        counts = {int((each.get("facts") or {}).get("action_n") or 0) for each in script.streams} - {0}
        if fit.mistake or " over " not in fit.name or len(counts) != 1:
            return ""
        count, setting = counts.pop(), told(script, "discount")
        meant = count * gamma
        if setting is None:
            # Nobody chooses a discount of 0.495.
            if not (count > 1 and 0.9 < meant <= 1.0 + 1e-4 and abs(meant * 200 - round(meant * 200)) < 0.02):
                return ""
        elif count < 2 or abs(meant - setting) > self.near:
            return ""
        return f"{gamma:.4g} times what is expected: {meant:.4g} divided by the {count} actions"
