"""A loss leads to a network that no optimizer holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.ownership import orphans, starved
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class NetworkInNoOptimizer(Rule):
    """A loss leads to a network that no optimizer holds.

    ## What it checks
    Which parameters each loss leads to, and which of them an optimizer holds. Some are in none, at every audit. For a
    whole network the weights must also be the same from audit to audit, while others are trained. Networks that are
    copied to, stepped by hand or read from a file are left alone.

    ## Why it matters
    Gradients are computed for them and thrown away. A critic or a head that never moves caps what the rest can learn,
    and no curve says so.

    ## Likely causes
    1. The optimizer was given the parameters of one of several networks. Confirm: count what is in
       `optimizer.param_groups`.
    2. A layer or a network was made, or replaced, after the optimizer. Confirm: look at the order.
    3. Parameters that are on no module, such as a log-std in a plain attribute, were left out. Confirm: the same.

    ## What to try first
    Make the optimizer last, from the parameters of all networks that the losses lead to.

    ## When it is fine
    Layers that are to stay random, or as they were pre-trained: give them `requires_grad_(False)`, and it is silent.

    ## References
    PyTorch, `torch.optim`.
    """

    code: ClassVar[str] = "OPT306"
    name: ClassVar[str] = "network-in-no-optimizer"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "held"

    def check(self, evidence: Script) -> Iterator[Finding]:
        if len(evidence.audits) < 2 or not any(evidence.events("loss")):
            raise NotEnough("losses were seen in fewer than 2 audits")
        if any(starved(evidence)):
            return  # an optimizer that finds no gradient was meant for it
        for each in orphans(evidence):
            what = "no tensor" if each.whole else f"{each.owned} tensors"
            yield self.finding(
                f"{'' if each.whole else 'a part of '}{each.module} is trained by no optimizer",
                where=each.loss.where,
                seen=f"losses lead to {each.reached} of its tensors, {each.losses} of {each.losses} times; {what} "
                "of it in an optimizer" + ("; its weights never changed" if each.whole else ""),
                expected="every parameter that a loss is to train in an optimizer",
                help=f"add the parameters of {each.module} to the optimizer, when its last layer has been made",
                confidence=0.95 if each.whole else 0.85,
                severity="error" if each.whole else "warning",
            )
