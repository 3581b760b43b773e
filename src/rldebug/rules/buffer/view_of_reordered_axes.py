"""A tensor whose axes were exchanged is flattened with `view`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.place import place
from rldebug.evidence.crashes.signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ViewOfReorderedAxes(Rule):
    """A tensor whose axes were exchanged is flattened with `view`.

    ## What it checks
    `view` refused: the elements do not lie in memory in the order of its axes.

    ## Why it matters
    After `transpose` or `permute` rows are no longer rows in memory. And flattening is where steps and environments get
    mixed up.

    ## Likely causes
    1. A rollout of (n_steps, n_envs) was transposed before `view(-1)`. Confirm: look at the lines before.
    2. An image was permuted before it is flattened for the first linear layer. Confirm: the same.
    3. An expanded tensor, or a slice of columns. Confirm: `x.is_contiguous()`.

    ## What to try first
    Write `reshape` in place of `view`; then check with one known element that everything that is flattened has the same
    order.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `Tensor.view`; `Tensor.reshape`.
    """

    code: ClassVar[str] = "BUF430"
    name: ClassVar[str] = "view-of-reordered-axes"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return (
            evidence.says("view size is not compatible with input tensor's size and stride")
            and place(evidence) != "environment"
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "a tensor whose axes were exchanged is flattened with view",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="reshape, or view before the axes are exchanged",
            help="write .reshape(...), and exchange the axes of rewards, actions and values alike: otherwise steps "
            "and environments are mixed up",
            confidence=0.9,
        )
