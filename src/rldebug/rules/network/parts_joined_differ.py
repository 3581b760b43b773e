"""What is joined inside a network differs in its batch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.bound import origin
from rldebug.evidence.crashes.lines import at_origin
from rldebug.evidence.crashes.place import place
from rldebug.evidence.crashes.signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class PartsJoinedDiffer(Rule):
    """What is joined inside a network differs in its batch.

    ## What it checks
    Concatenating failed inside a network: the parts differ in another axis than the one they are joined along.

    ## Why it matters
    A critic is fed observation and action side by side: row for row of the same step.

    ## Likely causes
    1. One part has a batch axis and the other has none. Confirm: print both shapes.
    2. Action and observation are of different batches, or one is repeated for sampled actions and the other is not.
       Confirm: the same.
    3. They are joined along the wrong axis. Confirm: `dim=-1` joins the features.

    ## What to try first
    Print the shapes of the parts on the line before.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `torch.cat`.
    """

    code: ClassVar[str] = "NET430"
    name: ClassVar[str] = "parts-joined-differ"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        uneven = evidence.says(
            "Sizes of tensors must match except in dimension",
            "Tensors must have same number of dimensions",
            "stack expects each tensor to be equal size",
            "all the input array",
            "zero-dimensional tensor .* cannot be concatenated",
        )
        return uneven and place(evidence) in ("network", "preprocessing")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        if evidence.says("same number of dimensions", "zero-dimensional") and (flat := _flat(evidence)):
            name, rows = flat
            came = origin(evidence, evidence.at, name)
            made = f"; {name} is made in {came.place} by `{came.text}`" if came else ""
            yield self.finding(
                f"{name} has an axis less than what it is joined with",
                where=at_origin(evidence, came),
                seen=f"{evidence.said}{operands_told(evidence)}{made}",
                expected=f"{name} as a column, ({rows}, 1)" if rows else f"{name} with as many axes as the others",
                help=f"turn {name} into a column where it is made: {name}.unsqueeze(-1), or [[x] for x in …] "
                "instead of a list "
                "of numbers"
                if rows
                else f"give {name} the axis that it lacks: {name}.unsqueeze(0) for one row",
                confidence=0.9,
            )
            return
        yield self.finding(
            "what is joined inside the network differs in its batch",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="parts with the same number of rows, joined along dim=-1",
            help="give every part a batch axis, repeat the shorter with expand, and join along the last axis: "
            "torch.cat([obs, action], dim=-1)",
            confidence=0.8,
        )


def _flat(crash: Crash) -> tuple[str, int] | None:
    """The one operand that has an axis less than the others, and its rows, where the others have as many."""
    shaped = {name: fact["shape"] for name, fact in crash.operands().items() if fact["kind"] in ("tensor", "array")}
    most = max((len(each) for each in shaped.values()), default=0)
    fewer = [name for name, shape in shaped.items() if len(shape) == most - 1]
    if len(shaped) < 2 or len(fewer) != 1 or any(len(each) < most - 1 for each in shaped.values()):
        return None
    shape = shaped[fewer[0]]
    others = [each for name, each in shaped.items() if name != fewer[0]]
    return fewer[0], shape[0] if shape and all(each[0] == shape[0] for each in others) and len(shape) == 1 else 0
