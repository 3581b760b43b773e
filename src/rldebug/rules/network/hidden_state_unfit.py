"""A recurrent state does not fit the batch it is used with."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.bound import bound
from rldebug.evidence.crashes.lines import at_origin
from rldebug.evidence.crashes.signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class HiddenStateUnfit(Rule):
    """A recurrent state does not fit the batch it is used with.

    ## What it checks
    A recurrent layer refused its state.

    ## Why it matters
    A state belongs to the rows it was made with.

    ## Likely causes
    1. The state has the batch of acting, one row for each environment, and is used with a minibatch. Confirm: print
       both shapes.
    2. The state was not made anew when the number of environments changed, as for evaluation. Confirm: the same.

    ## What to try first
    Print the shape of the state and that of the input: layers, batch, width.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `torch.nn.LSTM`.
    """

    code: ClassVar[str] = "NET404"
    name: ClassVar[str] = "hidden-state-unfit"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(
            r"Input batch size \d+ doesn't match hidden|Expected hidden(\[\d\])? size|hx has inconsistent|For "
            r"(un)?batched .*hx|expected hidden"
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        name, rows, batch = _rows(evidence)
        came = bound(evidence, evidence.at, name) if name else None
        begun = came is not None and isinstance(came.value, ast.Call) and rows and batch and rows != batch
        made = f"; {name} is made in {came.place} by `{came.text}`" if came else ""
        if begun and rows == 1:
            yield self.finding(
                f"the recurrent state is one of one row, and {batch} are fed",
                where=at_origin(evidence, came),
                seen=f"{evidence.said}{operands_told(evidence)}{made}",
                expected=f"a state of {batch} rows, one for each row of the batch",
                help=f"make the state for {batch} rows where it begins: torch.zeros(layers, {batch}, hidden); if "
                "the "
                f"{batch} are steps in time and not rows, it is batch_first that is wrong",
                confidence=0.9,
            )
            return
        yield self.finding(
            "the recurrent state does not fit the batch",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}{made}",
            expected="a state of one row for each row of the batch",
            help="store the state of each row with the data, and take the rows of the minibatch",
            confidence=0.9,
        )


def _rows(crash: Crash) -> tuple[str, int, int]:
    """The name of the state in the line, the rows that it has, and those that are wanted."""
    wanted = re.search(r"Expected hidden(?:\[\d\])? size [(\[]([\d, ]+)[)\]], got [(\[]([\d, ]+)[)\]]", crash.message)
    if wanted is None:
        return "", 0, 0
    batch, got = ([int(each) for each in part.split(",")] for part in wanted.groups())
    states = [
        name
        for name, fact in crash.operands().items()
        if got in ([each.get("shape") for each in fact.get("items", [])] or [fact.get("shape")])
    ]
    # Layers and width are right: it is the batch that differs.
    same = len(batch) == len(got) == 3 and batch[::2] == got[::2]
    return (states[0], got[1], batch[1]) if len(states) == 1 and same else ("", 0, 0)
