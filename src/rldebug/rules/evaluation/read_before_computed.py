"""A value is read before the branch that computes it has run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.bound import function_at, tree_of
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule

_UNSET = re.compile(
    r"cannot access (?:local|free) variable '(\w+)'|local variable '(\w+)' referenced before"
    r"|name '(\w+)' is not defined"
)


@dataclass(frozen=True, kw_only=True)
class ReadBeforeComputed(Rule):
    """A value is read before the branch that computes it has run.

    ## What it checks
    A name was read that is set only inside a condition or a loop which has not been entered.

    ## Why it matters
    Before `learning_starts` there is no loss; a loop over nothing sets nothing.

    ## Likely causes
    1. The log is written in every step, and the update runs in some. Confirm: the line of the condition.
    2. The loop over epochs or minibatches had none: the batch is smaller than a minibatch. Confirm: print their
       number.

    ## What to try first
    Log inside the branch, or set the name before it.

    ## When it is fine
    Never: the program has ended.

    ## References
    Python, *Execution model*: naming and binding.
    """

    code: ClassVar[str] = "EVA453"
    name: ClassVar[str] = "read-before-computed"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return _branch(evidence) is not None

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        name, line, word = _branch(evidence) or ("it", 0, "if")
        loop = word in ("for", "while")
        yield self.finding(
            f"{name} is read, and the {word} in line {line} that sets it has not run",
            where=evidence.where,
            seen=f"{evidence.said}, in `{evidence.at.source if evidence.at else ''}`",
            expected=f"{name} set on every way to this line",
            help=f"read {name} inside of it, or set it before"
            + ("; see why the loop had nothing to go over: minibatches larger than the batch?" if loop else ""),
            confidence=0.9,
        )


def _branch(evidence: Crash) -> tuple[str, int, str] | None:
    """The name, and the innermost condition or loop that sets it, where nothing else in the function does."""
    found = _UNSET.search(evidence.message)
    tree = tree_of(evidence.at) if evidence.at else None
    if found is None or tree is None or evidence.at is None:
        return None
    name = next(each for each in found.groups() if each)
    scope = function_at(tree, evidence.at)
    blocks = [
        (node.lineno, type(node).__name__.lower())
        for node in _within(scope)
        if isinstance(node, ast.If | ast.For | ast.While)
        and not node.lineno <= evidence.at.line <= (node.end_lineno or node.lineno)
        and _sets(node, name)
    ]
    return (name, *max(blocks)) if blocks else None


def _within(scope: ast.AST) -> Iterator[ast.AST]:
    """What stands in a function itself, not in the functions and classes inside of it."""
    for node in ast.iter_child_nodes(scope):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            yield node
            yield from _within(node)


def _sets(block: ast.AST, name: str) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store) for node in _within(block)
    )
