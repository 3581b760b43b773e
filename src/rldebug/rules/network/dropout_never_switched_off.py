"""F.dropout is called without `training=`: it stays on in eval()."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Edit, Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import first_parameter
from rldebug.syntax.kinds import class_kind
from rldebug.syntax.names import argument, library
from rldebug.syntax.places import calls, class_of, function_of

_FUNCTIONS = tuple(f"torch.nn.functional.{each}" for each in ("dropout", "dropout1d", "dropout2d", "dropout3d"))


@dataclass(frozen=True, kw_only=True)
class DropoutNeverSwitchedOff(Rule):
    """F.dropout is called without `training=`: it stays on in eval().

    ## What it checks
    In a method of a network, `F.dropout(x)` is called without the argument `training`, which is True by default. Read
    from the source.

    ## Why it matters
    `net.eval()` does not reach it: the policy acts with half of its units missing, and log-probs of the same state
    differ from call to call, which PPO takes for a change of the policy.

    ## Likely causes
    1. `training=self.training` was forgotten. Confirm: call the network twice in eval() and compare.

    ## What to try first
    `F.dropout(x, p, training=self.training)`, or an `nn.Dropout` made in `__init__`.

    ## When it is fine
    Where noise is wanted at all times: dropout as an estimate of uncertainty.

    ## References
    PyTorch, *torch.nn.functional.dropout*.
    """

    code: ClassVar[str] = "NET644"
    name: ClassVar[str] = "dropout-never-switched-off"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("NET397",)

    def check(self, evidence: Source) -> Iterator[Finding]:
        for call in calls(evidence):
            if library(evidence, call) not in _FUNCTIONS or argument(call, 2, "training") is not None:
                continue
            owner, function = class_of(evidence, call), function_of(evidence, call)
            if owner is None or function is None or class_kind(evidence, owner) != "module" or _hidden(call):
                continue
            me = first_parameter(function)
            yield self.finding(
                f"dropout stays on in eval(): {evidence.quoted(call.func)} is not told training",
                where=evidence.at(call),
                seen=evidence.quoted(call),
                expected=f"training={me}.training",
                help=f"training={me}.training as its last argument",
                confidence=0.88,
                edits=_mended(evidence, call, f"training={me}.training"),
            )


def _hidden(call: ast.Call) -> bool:
    return any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords)


def _mended(source: Source, call: ast.Call, text: str) -> tuple[Edit, ...]:
    last = [*call.args, *(each.value for each in call.keywords)]
    return (source.inserted_after(last[-1], f", {text}"),) if last else ()
