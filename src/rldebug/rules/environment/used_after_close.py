"""An environment is used after it was closed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.bound import tree_of
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class UsedAfterClose(Rule):
    """An environment is used after it was closed.

    ## What it checks
    A vector environment refused a call because `close()` had been called on it.

    ## Why it matters
    Its workers are gone; nobody is left to answer.

    ## Likely causes
    1. `close()` stands inside the loop, or in an evaluation that shares the environment. Confirm: the line that is
       named.
    2. The object that owned it was deleted, and closed it in `__del__`. Confirm: keep a name for it.
    3. A worker raised, and the environment closed itself. Confirm: read the first traceback in the output.

    ## What to try first
    Make a new environment, or close it after the last use.

    ## When it is fine
    Never: the program has ended.

    ## References
    Gymnasium, `VectorEnv.close`.
    """

    code: ClassVar[str] = "ENV450"
    name: ClassVar[str] = "used-after-close"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.is_a("ClosedEnvironmentError") or evidence.says(r"after a call to `close\(\)`")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        envs = [name for name, fact in evidence.operands().items() if fact["kind"] == "environment"]
        name = envs[0] if envs else "the environment"
        line = _closed_at(evidence, name)
        yield self.finding(
            f"{name} was used after it had been closed",
            where=evidence.where,
            seen=f"{evidence.said}{f'; {name}.close() stands in line {line}' if line else ''}",
            expected="close() after the last use",
            help="call close() once, after the last step and the last evaluation, or make a new environment",
            confidence=0.95,
        )


def _closed_at(evidence: Crash, name: str) -> int | None:
    """The line of the file that closes what bears this name."""
    tree = tree_of(evidence.at) if evidence.at else None
    if tree is None:
        return None
    closes = [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "close"
        and ast.unparse(node.func.value) == name
    ]
    before = [line for line in closes if evidence.at and line <= evidence.at.line]
    return max(before, default=None) or min(closes, default=None)
