"""The critic's target leaves out the entropy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.discrete_actor import weighed
from rldebug.forensics.roles import roles_of
from rldebug.forensics.targets import Fit, fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class EntropyLeftOutOfTarget(Rule):
    """The critic's target leaves out the entropy.

    ## What it checks
    The actor's loss holds the log-prob of its own actions with a positive factor, as in SAC. The formula of the
    critic's targets, which fits down to rounding, is the reward and the discounted value of the next state alone: the
    log-prob of the next action, which was computed, is not in it.

    ## Why it matters
    The critic does not value the entropy of later steps: the policy is only paid for the entropy of the next one, and
    the temperature means something else than it should.

    ## Likely causes
    1. `- alpha * next_log_prob` is missing from the target. Confirm: read the line.

    ## What to try first
    `min_q_next - alpha * next_log_prob` in the target.

    ## When it is fine
    Some variants leave it out on purpose; then ignore this rule.

    ## References
    Haarnoja et al. 2018, *Soft Actor-Critic Algorithms and Applications*.
    """

    code: ClassVar[str] = "ENT365"
    name: ClassVar[str] = "entropy-left-out-of-target"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "next"
    follows: ClassVar[tuple[str, ...]] = ("ENT360",)

    losses: int = 4  # that must be there

    def check(self, evidence: Script) -> Iterator[Finding]:
        factors = [
            float(term["coefficient"])
            for _, term in evidence.terms("output")
            if term.get("op") == "logp"
            and (term.get("attached") or {}).get("action")
            and int(term.get("rows") or 0) >= 4
        ]
        discrete = not factors
        if discrete:  # the log-probs of all actions are weighed, with their probabilities
            factors = [each.entropy / abs(each.value) for each in weighed(evidence) if each.value < 0 < each.entropy]
        if len(factors) < self.losses:
            raise NotEnough(f"{len(factors)} losses of an actor with a log-prob, needs {self.losses}")
        fits = [each for each in fit_targets(evidence) if each.what == "q" and each.audits >= 2 and each.share > 0.97]
        if not fits:
            raise NotEnough("the formula of no critic's target was found")
        if discrete and not all(" over " in each.name for each in fits):
            return
        # So small a temperature may hide in the rounding.
        if min(factors) < 0.01 or any(each.entropy is not None or each.mistake for each in fits):
            return
        if any(_learned_apart(evidence, each, fits) for each in fits):
            return
        fit = fits[0]
        yield self.finding(
            "the critic's target has no entropy in it",
            where=fit.where,
            seen=f"reward plus {fit.gamma:.3g} times the next value explains {fit.share:.0%} of {fit.rows} steps; the "
            f"actor's loss weighs the log-prob with {factors[0]:.3g}",
            expected="the next value less alpha times the log-prob of the next action",
            help="subtract alpha * next_log_prob from the next value",
            confidence=0.88,
        )


def _learned_apart(script: Script, fit: Fit, fits: Sequence[Fit]) -> bool:
    """Whether what is bootstrapped from is a network with a regression of its own, as in the first SAC: its target may
    have the entropy in it. Twin critics learn from one target: theirs are none of their own."""
    online = dict(roles_of(script).targets)
    asked = {online.get(each, each) for each in fit.name.replace("[", " ").split() if each in script.modules}
    own = set(fit.site[2]) if len(fit.site) > 2 else set()
    alike = [set(each.site[2]) for each in fits if len(each.site) > 2]
    others = [set(term.get("reached") or ()) for _, term in script.terms("regression")]
    others = [each for each in others if each not in alike]
    return bool(asked) and any(asked <= each and not asked & own for each in others)
