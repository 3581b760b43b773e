"""Log-probs are computed with their graph, and no loss leads to them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class LogProbInNoLoss(Rule):
    """Log-probs are computed with their graph, and no loss leads to them.

    ## What it checks
    Log-probs of a distribution carry a graph, so they were computed to be differentiated. Every loss that is run is
    made of a critic's error, and at most an entropy bonus: none of them has a log-prob in it, at any audit.

    ## Why it matters
    The critic learns and the policy does not, while a policy loss is computed and printed.

    ## Likely causes
    1. The log-prob is detached, or taken through numpy or `.item()`, on its way into the policy loss. Confirm: print
       `policy_loss.requires_grad`.
    2. The policy loss is not added to what `backward()` is called on. Confirm: read that line.
    3. `torch.tensor(log_probs)` builds a new tensor from a list: `torch.stack` keeps the graph. Confirm: the same.

    ## What to try first
    Print `requires_grad` of each term of the loss.

    ## When it is fine
    A critic that is trained alone at first: then the policy loss comes later, and nothing is said.

    ## References
    PyTorch, *Autograd mechanics*.
    """

    code: ClassVar[str] = "GRA301"
    name: ClassVar[str] = "log-prob-in-no-loss"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    audits: int = 2  # in which losses were seen
    losses: int = 8  # that were looked into
    times: int = 4  # that a log-prob was computed with its graph
    far: float = 0.3  # of the updates of the run, to which the audits must reach

    def check(self, evidence: Script) -> Iterator[Finding]:
        found = [(audit.number, loss, terms) for audit in evidence.audits for loss, terms in audit.losses]
        last = max((audit.update for audit in evidence.audits), default=0)
        if len(found) < self.losses or len({number for number, _, _ in found}) < self.audits:
            raise NotEnough(f"{len(found)} losses were looked into")
        if last < self.far * int(evidence.counts.get("updates") or 0):
            raise NotEnough("the audits are from the beginning of the run only")
        if any(loss["how"] != "backward" or not terms for _, loss, terms in found):
            return
        kinds = {str(term["kind"]) for _, _, terms in found for term in terms}
        chosen = any("index" in term.arrays for _, _, terms in found for term in terms)
        if chosen or "regression" not in kinds or not kinds <= {"regression", "entropy"}:
            return
        made = [(audit.number, each) for audit, each in evidence.events("logp") if each.get("attached")]
        made = [(number, each) for number, each in made if not each.get("value_attached")]
        calls = sum(int(each.get("calls") or 1) for _, each in made)
        if calls < self.times or len({number for number, _ in made}) < self.audits:
            return
        yield self.finding(
            "log-probs are computed, and no loss leads to them",
            where=made[0][1].where,
            seen=f"{calls} log-probs with a graph; {len(found)} losses, made of {' and '.join(sorted(kinds))} alone",
            expected="a policy loss with the log-probs in it",
            help="look for detach(), item(), numpy or torch.tensor(...) between log_prob and the loss",
            confidence=0.9,
        )
