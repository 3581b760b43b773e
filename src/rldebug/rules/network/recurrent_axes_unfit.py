"""A recurrent layer is given too many or too few axes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class RecurrentAxesUnfit(Rule):
    """A recurrent layer is given too many or too few axes.

    ## What it checks
    An LSTM, GRU or RNN refused the number of axes of its input.

    ## Why it matters
    It takes (steps, batch, features), with `batch_first` (batch, steps, features), or for one sequence (steps,
    features).

    ## Likely causes
    1. One observation is fed as it is: axes for step and batch are missing. Confirm: print its shape.
    2. An image was not flattened before it. Confirm: the same.

    ## What to try first
    Write `obs.view(1, n_envs, -1)` for one step of several environments.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, `torch.nn.LSTM`.
    """

    code: ClassVar[str] = "NET433"
    name: ClassVar[str] = "recurrent-axes-unfit"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(
            r"(LSTM|GRU|RNN(Cell)?|LSTMCell|GRUCell): Expected input to be \dD",
            r"input must have \d+ dimensions, got",
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "a recurrent layer was given too many or too few axes",
            where=evidence.where,
            seen=f"{evidence.said}{operands_told(evidence)}",
            expected="steps, batch, features",
            help="give one step of several environments as obs.view(1, n_envs, -1); flatten what is left behind the "
            "batch",
            confidence=0.9,
        )
