"""What a target is computed from differs in shape."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.bound import Bound, bound
from rldebug.evidence.crashes.lines import at_origin
from rldebug.evidence.crashes.place import place
from rldebug.evidence.crashes.signs import operands_told, shapes_meet_badly
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class TargetPartsDiffer(Rule):
    """What a target is computed from differs in shape.

    ## What it checks
    Shapes did not fit where data without a graph is put together.

    ## Why it matters
    Reward, next value and flag of one step belong together; if one is longer, all the others are shifted against it.

    ## Likely causes
    1. The values hold one more than the rewards: the last, for the bootstrap. Confirm: the lengths differ by 1.
    2. Something is stored for each environment, something else once. Confirm: print the shapes; one has the number of
       environments.
    3. One is a batch, the other all of the buffer. Confirm: the same.

    ## What to try first
    Print the shapes of rewards, next values and flags before they are put together.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *Broadcasting semantics*.
    """

    code: ClassVar[str] = "DIS430"
    name: ClassVar[str] = "target-parts-differ"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return shapes_meet_badly(evidence) and place(evidence) == "discounting"

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        if (short := _sliced(evidence)) is not None:
            name, came, whole, first = short
            lost, added = ("first", "after the last") if first else ("last", "before the first")
            yield self.finding(
                f"{name} is {whole} without its {lost} row: one shorter than the rest",
                where=at_origin(evidence, came),
                seen=f"{evidence.said}{operands_told(evidence)}; {name} is made in {came.place} by `{came.text}`",
                expected="rewards, next values and flags of one length",
                help=f"append the value of the state {added} row: torch.cat([{came.text}, last_value.unsqueeze(0)])"
                if first
                else f"take the same rows of the others, or leave {whole} whole",
                confidence=0.85,
            )
            return
        yield self.finding(
            "what a target is computed from differs in shape",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="rewards, next values and flags of one shape",
            help="bring rewards, next values and flags to one shape, and keep the last value apart",
            confidence=0.55,
        )


def _sliced(crash: Crash) -> tuple[str, Bound, str, bool] | None:
    """The operand that is another one cut by a row: its name, its line, what it is cut from, whether at the front."""
    rows = {name: each["shape"][0] for name, each in crash.operands().items() if each.get("shape")}
    for name, length in rows.items():
        if not any(other == length + 1 for other in rows.values()):
            continue
        came = bound(crash, crash.at, name)
        cut = came.value if came is not None else None
        if came is None or not isinstance(cut, ast.Subscript) or not isinstance(cut.slice, ast.Slice):
            continue
        lower, upper = (ast.unparse(each) if each is not None else "" for each in (cut.slice.lower, cut.slice.upper))
        if (lower, upper) in (("1", ""), ("", "-1"), ("0", "-1")):
            return name, came, ast.unparse(cut.value), lower == "1"
    return None
