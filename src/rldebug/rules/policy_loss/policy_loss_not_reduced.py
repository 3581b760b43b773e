"""backward() is called on a policy loss of many numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.lines import at, not_reduced
from rldebug.evidence.crashes.place import regression
from rldebug.evidence.crashes.signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class PolicyLossNotReduced(Rule):
    """backward() is called on a policy loss of many numbers.

    ## What it checks
    `backward()` was called on a tensor of more than one element that was not computed by a regression.

    ## Why it matters
    There is no gradient of a vector; one number is to be minimised.

    ## Likely causes
    1. A `.mean()` or `.sum()` is missing on the loss of each sample. Confirm: print the shape of the loss.
    2. One term of the loss was reduced and another, as the entropy or a KL of each sample, was not. Confirm: print
       their shapes.

    ## What to try first
    Reduce each term with `.mean()` before they are added.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `torch.Tensor.backward`.
    """

    code: ClassVar[str] = "POL401"
    name: ClassVar[str] = "policy-loss-not-reduced"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says("grad can be implicitly created only for scalar outputs") and not regression(evidence)

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        name, told, mended = not_reduced(evidence)
        yield self.finding(
            f"the policy loss {name}is not a single number",
            where=at(evidence, evidence.graph.get("reduced") or evidence.graph.get("made")),
            seen=f"{evidence.said}{told or operands_told(evidence)}",
            expected="a tensor of one element",
            help=mended,
            confidence=0.85,
        )
