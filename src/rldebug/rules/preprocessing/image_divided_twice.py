"""Images are divided by 255 twice on their way into the network."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import class_of_method, reaching
from rldebug.syntax.flow import handed, held
from rldebug.syntax.kinds import module_class
from rldebug.syntax.names import constant, library, method, receiver
from rldebug.syntax.places import calls, function_of

_MADE = "as_tensor tensor from_numpy asarray array stack float32 FloatTensor unsqueeze squeeze"
_CONVERTS = frozenset(_MADE.split())
_SHAPES = (
    "float to cuda cpu unsqueeze squeeze permute transpose reshape view flatten contiguous detach clone copy astype"
)
_KEEPS = frozenset(_SHAPES.split()) | {"numpy", "double", "half", "expand", "expand_as"}


@dataclass(frozen=True, kw_only=True)
class ImageDividedTwice(Rule):
    """Images are divided by 255 twice on their way into the network.

    ## What it checks
    A division by 255 of something that was divided by 255 before, followed through names, conversions, the
    functions of the file and the `forward` of its networks. Read from the source.

    ## Why it matters
    What the network sees lies between 0 and 0.004. Its first layer gets next to nothing, and learning is slow or
    fails.

    ## Likely causes
    1. The network scales, and so does who calls it. Confirm: print the largest number the network is given.

    ## What to try first
    Take one of the two divisions away.

    ## When it is fine
    Nothing that is known of.

    ## References
    PRE-04 of bench/bugs.
    """

    code: ClassVar[str] = "PRE605"
    name: ClassVar[str] = "image-divided-twice"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("PRE304", "PRE005")

    def check(self, evidence: Source) -> Iterator[Finding]:
        for node in ast.walk(evidence.tree):
            left = _divided(node)
            if left is None:
                continue
            first = next((each for each in same_values(evidence, left, 12) if _divided(each) is not None), None)
            if first is not None:
                yield self.finding(
                    f"{evidence.quoted(left)} was divided by 255 in line {first.lineno} already",
                    where=evidence.at(node),
                    seen=f"{evidence.quoted(first)}, then {evidence.quoted(node)}",
                    expected="one division by 255",
                    help=f"take the division in line {first.lineno} or this one away",
                    confidence=0.93,
                )


def _divided(node: ast.AST) -> ast.expr | None:
    """x of `x / 255`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and constant(node.right) in (255, 255.0):
        return node.left
    return None


def same_values(source: Source, node: ast.expr, depth: int) -> Iterator[ast.expr]:
    """What a value is by other names: before conversions and changes of shape, and before it was handed over."""
    if depth <= 0:
        return
    yield node
    before: list[ast.expr] = []
    if isinstance(node, ast.Name | ast.Attribute):
        for binding in reaching(source, node):
            if isinstance(binding.node, ast.arg):
                before += _handed(source, binding.node)
            elif binding.whole is not None:
                before.append(binding.whole)
    elif isinstance(node, ast.Subscript):
        before = [node.value] if isinstance(node.slice, ast.Constant | ast.Slice | ast.Name) else []
    elif isinstance(node, ast.Call):
        inner, last = receiver(node), library(source, node).rpartition(".")[2]
        if last in _CONVERTS and node.args:
            before = [node.args[0]]
        elif not last and inner is not None and method(node) in _KEEPS:
            before = [inner]
        elif not last:
            before = [each for each, _ in held(source, node)]
    for each in before:
        yield from same_values(source, each, depth - 1)


def _handed(source: Source, parameter: ast.arg) -> list[ast.expr]:
    """What a parameter is given; for `forward`, by the calls of the network."""
    function = function_of(source, parameter)
    owner = class_of_method(source, function) if function is not None else None
    if function is None or owner is None or function.name != "forward":
        return list(handed(source, parameter))
    names = [each.arg for each in function.args.args]
    place = names.index(parameter.arg) - 1 if parameter.arg in names else -1
    asks = (each for each in calls(source) if 0 <= place < len(each.args))
    return [each.args[place] for each in asks if module_class(source, each.func) is owner]
