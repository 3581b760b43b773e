"""A loop over weights binds its own variable anew: no weight changes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.copies import weights_of
from rldebug.syntax.places import before


@dataclass(frozen=True, kw_only=True)
class WeightBoundNotWritten(Rule):
    """A loop over weights binds its own variable anew: no weight changes.

    ## What it checks
    `for t, p in zip(target.parameters(), net.parameters()): t = …`: the variable of the loop is assigned and not used
    any more. Read from the source.

    ## Why it matters
    The name is bound to a new tensor that is thrown away in the next round. The network keeps its weights: a target
    that is updated so stays what it was made as, without an error.

    ## Likely causes
    1. `.data` or `.copy_()` is missing. Confirm: compare a weight before and after the loop.

    ## What to try first
    `t.data.copy_(…)`, or `t.copy_(…)` under `torch.no_grad()`.

    ## When it is fine
    Never.

    ## References
    TGT-17 of bench/bugs is the same effect. Lillicrap et al., *Continuous control with deep reinforcement learning*.
    """

    code: ClassVar[str] = "TGT622"
    name: ClassVar[str] = "weight-bound-not-written"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("TGT001", "TGT005", "TGT300")

    def check(self, evidence: Source) -> Iterator[Finding]:
        for loop in ast.walk(evidence.tree):
            if not isinstance(loop, ast.For):
                continue
            networks = weights_of(evidence, loop)
            for statement in (each for each in ast.walk(loop) if isinstance(each, ast.Assign | ast.AugAssign)):
                name = _bound(statement)
                if name not in networks or _read_later(loop, statement, name):
                    continue
                network = evidence.quoted(networks[name])
                value = evidence.quoted(statement.value)
                yield self.finding(
                    f"{name} is only a name here: the weights of {network} do not change",
                    where=evidence.at(statement),
                    seen=evidence.quoted(statement),
                    expected=f"the value is written into the weights of {network}",
                    help=f"with torch.no_grad(): {name}.copy_({value})",
                    confidence=0.96,
                )


def _bound(statement: ast.Assign | ast.AugAssign) -> str:
    # `t += …` changes a tensor in place, and then the weight as well.
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        return target.id if isinstance(target, ast.Name) else ""
    return ""


def _read_later(loop: ast.For, statement: ast.stmt, name: str) -> bool:
    return any(
        isinstance(each, ast.Name)
        and each.id == name
        and isinstance(each.ctx, ast.Load)
        and before(statement, each)
        and getattr(each, "lineno", 0) > (statement.end_lineno or statement.lineno)
        for each in ast.walk(loop)
    )
