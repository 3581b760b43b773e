"""The softmax of a policy loss is taken over the rows of the batch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class SoftmaxOverRows(Rule):
    """The softmax of a policy loss is taken over the rows of the batch.

    ## What it checks
    The axis of the softmax beneath the log-probs of a policy loss, beside the axis along which actions are picked. Read
    off the backward graph.

    ## Why it matters
    What the network says of one observation is divided by what it says of all others. An action becomes likelier in one
    row by becoming less likely in the others, and nothing makes it likelier than another action.

    ## Likely causes
    1. `softmax(x, dim=0)`, which is right for a single observation, is used for a batch. Confirm: the columns add up to
       1, and the rows do not.

    ## What to try first
    `dim=-1`.

    ## When it is fine
    Never.

    ## References
    The PyTorch documentation of `torch.nn.functional.softmax`.
    """

    code: ClassVar[str] = "ACT332"
    name: ClassVar[str] = "softmax-over-rows"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "scores"

    losses: int = 3  # of a policy, with such a softmax

    def check(self, evidence: Script) -> Iterator[Finding]:
        losses = [term for _, term in evidence.terms("policy") if "across" in term.detail]
        if len(losses) < self.losses:
            raise NotEnough(f"{len(losses)} policy losses, needs {self.losses}")
        across = [term for term in losses if term["across"]]
        if len(across) < max(self.losses, 0.5 * len(losses)):
            return
        yield self.finding(
            "the softmax is taken over the rows of the batch, not over the actions",
            where=across[0].where,
            seen=f"a softmax over the first axis in {len(across)} of {len(losses)} policy losses",
            expected="a softmax over the last axis, that of the actions",
            help="use dim=-1",
            confidence=0.97,
        )
