"""softmax() is not told along which axis."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.names import argument, library
from rldebug.syntax.places import calls

_FUNCTIONS = tuple(f"torch.nn.functional.{each}" for each in ("softmax", "log_softmax", "softmin"))
_LAYERS = ("torch.nn.Softmax", "torch.nn.LogSoftmax", "torch.nn.Softmin")


@dataclass(frozen=True, kw_only=True)
class SoftmaxAxisLeftOpen(Rule):
    """softmax() is not told along which axis.

    ## What it checks
    `F.softmax(x)`, `nn.Softmax()` and their logarithms without `dim`. Read from the source.

    ## Why it matters
    PyTorch then guesses: the first axis for inputs of one or three axes, the second for others. For a batch of
    sequences that is the batch: the probabilities of different environments sum to one, not those of the actions.

    ## Likely causes
    1. `dim=-1` was forgotten. Confirm: `probs.sum(-1)` should be ones.

    ## What to try first
    `dim=-1`, where the last axis is that of the actions.

    ## When it is fine
    Where all inputs have two axes.

    ## References
    PyTorch, *torch.nn.functional.softmax*.
    """

    code: ClassVar[str] = "NET645"
    name: ClassVar[str] = "softmax-axis-left-open"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("NET306", "ACT431")

    def check(self, evidence: Source) -> Iterator[Finding]:
        for call in calls(evidence):
            name = library(evidence, call)
            place = 1 if name in _FUNCTIONS else 0 if name in _LAYERS else None
            hidden = any(each.arg is None for each in call.keywords) or any(
                isinstance(each, ast.Starred) for each in call.args
            )
            if place is None or hidden or argument(call, place, "dim") is not None or len(call.args) > place:
                continue
            yield self.finding(
                f"{evidence.quoted(call.func).rpartition('.')[2].lower()} is not told along which axis",
                where=evidence.at(call),
                seen=evidence.quoted(call),
                expected="dim=-1, the axis of the actions",
                help="give dim=-1",
                confidence=0.85,
            )
