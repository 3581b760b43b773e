"""Importance weights of a prioritised replay are computed, handed back and never used."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import called
from rldebug.syntax.flow import held, returned
from rldebug.syntax.places import Function

_POWERS = ("pow", "power")


@dataclass(frozen=True, kw_only=True)
class ImportanceWeightsNeverUsed(Rule):
    """Importance weights of a replay are computed and never used.

    ## What it checks
    A function that computes a loss takes a batch from another one of the file, and part of what it gets back is a
    negative power of probabilities: importance weights. The name they are given is never read. Read from the source.

    ## Why it matters
    A prioritised replay draws some rows more often than others. Without its weights the loss is that of another
    distribution, and what is learned is biased towards rows with large errors.

    ## Likely causes
    1. The loss is averaged without them. Confirm: look for the name of the weights in the loss.

    ## What to try first
    `loss = (weights * td_error.pow(2)).mean()`.

    ## When it is fine
    Where the bias is wanted; then give them a name that begins with an underscore.

    ## References
    Schaul et al. 2016, *Prioritized Experience Replay*, section 3.4.
    """

    code: ClassVar[str] = "BUF607"
    name: ClassVar[str] = "importance-weights-never-used"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Source"

    def check(self, evidence: Source) -> Iterator[Finding]:
        told = set[ast.Call]()  # functions lie within others
        for function in ast.walk(evidence.tree):
            if not isinstance(function, Function | ast.Module) or not _learns(function):
                continue
            read = {each.id for each in ast.walk(function) if isinstance(each, ast.Name) and _is_read(each)}
            for name, place, call in _taken(function):
                if call in told or name in read or name.startswith("_") or not _weights(evidence, call, place):
                    continue
                told.add(call)
                yield self.finding(
                    "importance weights are computed and never used",
                    where=evidence.at(call),
                    seen=f"{name} is never read after {evidence.quoted(call)}",
                    expected="a loss in which each row has its weight",
                    help=f"multiply the loss of each row by {name}, before the mean",
                    confidence=0.88,
                )


def _is_read(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Load | ast.Del)


def _learns(scope: ast.AST) -> bool:
    inside = [each for each in ast.walk(scope) if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute)]
    return any(isinstance(each.func, ast.Attribute) and each.func.attr == "backward" for each in inside)


def _taken(scope: ast.AST) -> Iterator[tuple[str, int, ast.Call]]:
    """Names that a part of what a call gives back is bound to, in the function itself."""
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, ast.Tuple) and not any(isinstance(each, ast.Starred) for each in target.elts):
                for place, each in enumerate(target.elts):
                    if isinstance(each, ast.Name):
                        yield each.id, place, node.value


def _weights(source: Source, call: ast.Call, place: int) -> bool:
    function = called(source, call)
    answers = [] if function is None else returned(function)
    parts = [each.elts[place] for each in answers if isinstance(each, ast.Tuple) and place < len(each.elts)]
    return bool(parts) and len(parts) == len(answers) and all(_is_negative_power(source, each, 4) for each in parts)


def _is_negative_power(source: Source, expression: ast.expr, depth: int) -> bool:
    for node in ast.walk(expression):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and _negative(node.right):
            return True
        power = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _POWERS
        if isinstance(node, ast.Call) and power and any(_negative(each) for each in node.args):
            return True
        if depth and isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            several = [each for each, _ in held(source, node) if each is not expression]
            if any(_is_negative_power(source, each, depth - 1) for each in several):
                return True
    return False


def _negative(exponent: ast.expr) -> bool:
    return isinstance(exponent, ast.UnaryOp) and isinstance(exponent.op, ast.USub) and not _is_number(exponent.operand)


def _is_number(node: ast.expr) -> bool:
    """10 ** -3 weighs nothing."""
    return isinstance(node, ast.Constant)
