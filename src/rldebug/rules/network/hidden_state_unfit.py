"""A recurrent state does not fit the batch it is used with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
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
        yield self.finding(
            "the recurrent state does not fit the batch",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="a state of one row for each row of the batch",
            help="store the state of each row with the data, and take the rows of the minibatch",
            confidence=0.9,
        )
