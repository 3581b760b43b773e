"""The loss weights probabilities of actions, where their logarithms belong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.targets import fit_targets, fit_weights
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ProbabilityWithoutLog(Rule):
    """The loss weights the probability of the action, not its logarithm.

    ## What it checks
    The form of the policy loss, read off the backward graph: the probability of the action that was taken, times a
    weight that was found to be the advantage or the return, and neither a logarithm nor a quotient of two policies.

    ## Why it matters
    The action was drawn with that probability already. Counted once more, likely actions are pushed hard, and unlikely
    ones hardly at all, however good they turned out: whatever leads at the start is kept.

    ## Likely causes
    1. The logarithm was forgotten: `-(probs.gather(1, a) * advantage).mean()`. Confirm: what is multiplied lies between
       0 and 1, and log-probs are below 0.

    ## What to try first
    Use `Categorical(...).log_prob(a)`.

    ## When it is fine
    Never with sampled actions. The sum over all actions, each weighted with its own value, is another thing.

    ## References
    Williams, *Simple Statistical Gradient-Following Algorithms for Connectionist Reinforcement Learning* (1992).
    """

    code: ClassVar[str] = "POL394"
    name: ClassVar[str] = "probability-without-log"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    losses: int = 3  # of such a form

    def check(self, evidence: Script) -> Iterator[Finding]:
        losses = [term for _, term in evidence.terms("policy") if term.get("family") == "categorical"]
        bare = [term for term in losses if term["op"] == "prob" and not term.get("clip")]
        if len(losses) < self.losses:
            raise NotEnough(f"{len(losses)} losses of a policy with choices, needs {self.losses}")
        if len(bare) < max(self.losses, 0.9 * len(losses)):
            return
        known = {each.site for each in fit_weights(evidence) if each.of in ("advantage", "td-error", "target")}
        known |= {each.site for each in fit_targets(evidence) if each.what == "weight"}
        if not any(site[:2] == ("policy", "prob") for site in known):
            raise NotEnough("by which formula the weights of the probabilities were made is not known")
        yield self.finding(
            "the probability of the action is weighted, not its logarithm",
            where=bare[0].where,
            seen=f"probability × advantage in {len(bare)} of {len(losses)} policy losses",
            expected="log-prob × advantage",
            help="take the logarithm: log_prob(action), or log_softmax in place of softmax",
            confidence=0.94,
        )
