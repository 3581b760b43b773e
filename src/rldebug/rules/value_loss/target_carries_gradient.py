"""The gradient of the value loss flows into its target, too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.batches import owned
from rldebug.forensics.roles import roles_of
from rldebug.forensics.target_rows import sited
from rldebug.forensics.targets import fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TargetCarriesGradient(Rule):
    """The gradient of the value loss flows into its target, too.

    ## What it checks
    The graph of each regression that a value is learned by: its target is made of rewards and of what the trained
    network itself says of the next states, and that part still has its graph. Exact.

    ## Why it matters
    The loss is lowered by moving the target to the prediction as much as the other way round. What is found that way
    are not the values of the states, and it is found slowly.

    ## Likely causes
    1. The target is computed outside `torch.no_grad()`. Confirm: `target.requires_grad` is True.
    2. A `.detach()` was lost when the line was rewritten. Confirm: the same.

    ## What to try first
    Put the computation of the target under `with torch.no_grad():`.

    ## When it is fine
    Residual gradients on purpose.

    ## References
    Baird 1995, *Residual Algorithms*. pytorch/rl PR 322.
    """

    code: ClassVar[str] = "VAL300"
    name: ClassVar[str] = "target-carries-gradient"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "formula"

    terms: int = 3  # of the loss, that were seen so
    audits: int = 2  # in which they were seen

    def check(self, evidence: Script) -> Iterator[Finding]:
        roles = roles_of(evidence)
        formulas = {fit.site: fit for fit in fit_targets(evidence) if fit.what in ("value", "q")}
        found = []
        seen = 0
        for audit in evidence.audits:
            for site, term in sited(audit, "regression"):
                seen += 1
                side = set((term.get("sides") or {}).get("target") or ())
                alone = set(term.get("reached") or ()) == side
                own = {each for each in side if owned(evidence, each) and (alone or each not in roles.policy)}
                if (term.get("attached") or {}).get("target") and own and ("index" in term.arrays or site in formulas):
                    found.append((audit, term, sorted(own)[0]))
        if not seen:
            raise NotEnough("no regression was seen")
        if len(found) < self.terms or len({audit.number for audit, _, _ in found}) < self.audits:
            return
        _, term, module = next((each for each in found if each[1].get("line")), found[0])
        yield self.finding(
            "the target of the value loss carries a gradient",
            where=term.where,
            seen=f"in {len(found)} of {seen} regressions the target leads back to the parameters of {module}",
            expected="a target that is data",
            help="compute the target under torch.no_grad(), or detach it",
            confidence=0.95,
        )
