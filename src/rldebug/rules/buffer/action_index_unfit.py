"""Stored actions cannot be used as an index."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ActionIndexUnfit(Rule):
    """Stored actions cannot be used as an index.

    ## What it checks
    `gather`, `one_hot` or indexing refused its index: it is no integer, or has another number of axes than what it is
    to pick from.

    ## Why it matters
    Actions pick the value or log-prob that is trained; they have to come out of the buffer as they are used.

    ## Likely causes
    1. Actions are stored as float32 with everything else. Confirm: print the dtype of the actions of a batch.
    2. Actions are (n,) and `gather(1, …)` wants (n, 1). Confirm: print their shape.
    3. A mask of floats is used as an index. Confirm: the same.

    ## What to try first
    Store actions as int64; write `actions.long().unsqueeze(1)` where they pick.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `torch.gather`.
    """

    code: ClassVar[str] = "BUF401"
    name: ClassVar[str] = "action-index-unfit"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(
            r"(gather|scatter|index_select|index_add)\w*\(\): Expected dtype int",
            "input and indices should have the same number of dimensions",
            "`indices` and `arr` must have the same number of dimensions",
            "expected target dtype to be Long|expected scalar type Long but found",
            "0D or 1D target tensor expected, multi-target not supported",
            "Index tensor must have the same number of dimensions",
            "Size does not match at dimension .* expected index",
            "one_hot is only applicable to index tensor",
            "tensors used as indices must be",
            "arrays used as indices must be of integer",
            "only integers, slices",
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        message, help = _mistake(evidence)
        yield self.finding(
            message,
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="integers, with as many axes as what they pick from",
            help=help,
            confidence=0.85,
        )


def _mistake(crash: Crash) -> tuple[str, str]:
    facts = crash.operands().items()
    floats = [name for name, fact in facts if fact.get("dtype") in ("float32", "float64", "float16", "bfloat16")]
    index = floats[-1] if floats else "the index"  # what picks is written behind what it picks from
    if crash.says("used as indices must be", "only integers, slices"):
        return f"{index} is of floats and cannot pick rows", "write mask.bool() for flags, index.long() for indices"
    if crash.says("target dtype|expected scalar type Long", "multi-target not supported"):
        return (
            "stored actions cannot be the classes of a loss",
            "write actions.long().squeeze(-1): one class for each row",
        )
    if crash.says("number of dimensions", "Size does not match"):
        return (
            "stored actions have other axes than what they pick from",
            "give them the axis that they pick along: actions.unsqueeze(1), one row for each row of the other",
        )
    return (
        "stored actions cannot be used as an index",
        "store actions as int64, and write actions.long() where they pick",
    )
