"""An optimizer steps and never finds a gradient: the network that learns is not the one it holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.ownership import orphans, starved
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class OptimizerHoldsOtherParameters(Rule):
    """An optimizer holds other parameters than those that the losses lead to.

    ## What it checks
    At every step that was seen of an optimizer, none of its parameters has a gradient; and losses lead to a network
    that no optimizer holds and that never changes. Or: none of the optimizers of the program ever has a gradient, and
    no step changes anything, while losses lead to tensors that none of them holds. Exact.

    ## Why it matters
    Nothing is learned, while losses are computed and steps are taken.

    ## Likely causes
    1. The network was made anew, copied or loaded after the optimizer was made. Confirm: compare `id(p)` of the
       parameters of both.
    2. The optimizer was given the parameters of another network, such as the target network. Confirm: read the line
       that makes it.
    3. The network was moved in a way that makes new parameters. Confirm: the same.

    ## What to try first
    Make the optimizer after the network, from that very object.

    ## When it is fine
    Never.

    ## References
    PyTorch, `torch.optim`: constructing it.
    """

    code: ClassVar[str] = "OPT307"
    name: ClassVar[str] = "optimizer-holds-other-parameters"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "optimizer"

    steps: int = 8  # that were seen, where none of the optimizers has gradients

    def check(self, evidence: Script) -> Iterator[Finding]:
        if not any(evidence.events("step")):
            raise NotEnough("no step was seen")
        left = [each for each in orphans(evidence) if each.whole]
        none = list(starved(evidence))
        if not left and none and self._all_starve(evidence, {name for name, _, _ in none}):
            name, step, count = none[0]
            yield self.finding(
                f"optimizer {name} holds nothing that a loss leads to",
                where=step.where,
                seen=f"no gradient in any of its {step['of']} tensors at {count} of {count} steps, no weight changed",
                expected="the parameters that the losses lead to",
                help="give it the tensors that the loss is computed from; copies and stacks are others",
                confidence=0.95,
            )
        for name, step, count in none:
            if left:
                created = evidence.optimizers.get(name, {}).get("created")
                yield self.finding(
                    f"optimizer {name} does not hold the network that learns",
                    where=step.where,
                    seen=f"no gradient in any of its {step['of']} tensors at {count} of {count} steps; the losses lead "
                    f"to {', '.join(each.module for each in left)}, in no optimizer"
                    + (f"; made at {created[0]}:{created[1]}" if created else ""),
                    expected="the parameters that the losses lead to",
                    help="make the optimizer after the network, from the parameters of that very object",
                    confidence=0.97,
                )

    def _all_starve(self, script: Script, starving: set[str]) -> bool:
        """Whether nothing is ever changed by any of them."""
        steps = [each for _, each in script.events("step")]
        still = all(each["optimizer"] in starving and each.get("change") == 0.0 for each in steps)
        audits = {audit.number for audit, _ in script.events("step")}
        strays = any(int(term.get("strays") or 0) > 0 for _, term in script.events("term"))  # what it should hold
        return still and len(steps) >= self.steps and len(audits) > 1 and strays
