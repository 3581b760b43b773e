"""The deviation of the policy is a tensor that no module lists, so that no optimizer gets it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.still_deviations import still_deviation
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class DeviationIsNoParameter(Rule):
    """The deviation of the policy is a plain tensor, not a parameter.

    ## What it checks
    A Gaussian policy whose deviation gets a gradient from the loss. The tensor that it is made of requires one, but is
    no `nn.Parameter`: no module lists it, and no optimizer holds it. It stays what it was in all updates, to the last
    digit.

    ## Why it matters
    `parameters()` goes round it, so that the optimizer is never given it, and `state_dict()` does not save it. The
    noise of the policy never shrinks and never grows.

    ## Likely causes
    1. `self.log_std = torch.zeros(n, requires_grad=True)`. Confirm: it is not in `dict(policy.named_parameters())`.
    2. A parameter was replaced by what an operation made of it: `nn.Parameter(x) * 0.5`, `.to(device)`. Confirm: as
       before.

    ## What to try first
    `self.log_std = nn.Parameter(torch.zeros(n))`, before the optimizer is made.

    ## When it is fine
    A deviation that is meant to stay: then it needs no gradient.

    ## References
    The PyTorch documentation of `torch.nn.Parameter`.
    """

    code: ClassVar[str] = "OPT520"
    name: ClassVar[str] = "deviation-is-no-parameter"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "held"

    losses: int = 6  # of a Gaussian policy, at as many updates

    def check(self, evidence: Script) -> Iterator[Finding]:
        seen = still_deviation(evidence)
        if seen.losses < self.losses or seen.updates < self.losses or seen.first is None:
            raise NotEnough(f"{seen.losses} losses with a Gaussian policy, needs {self.losses}")
        if not seen.plain:
            return
        yield self.finding(
            "the deviation of the policy is a plain tensor: no module lists it, and no optimizer holds it",
            where=seen.first.where,
            seen=f"it gets a gradient in {seen.losses} losses, is no nn.Parameter, and never changes",
            expected="an nn.Parameter of the network, which parameters() gives to the optimizer",
            help="make it an nn.Parameter of the network before the optimizer is made",
            confidence=0.94,
        )
