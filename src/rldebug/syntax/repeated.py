"""Wrappers that repeat an action: a step() whose loop steps the environment inside."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rldebug.evidence.source import Source
from rldebug.syntax.names import dotted
from rldebug.syntax.places import class_of, function_of, loops_of
from rldebug.syntax.stepping import Step, steps


def repeated(source: Source) -> Iterator[tuple[Step, ast.For, ast.FunctionDef]]:
    """The inner step, the loop around it, and the step() of the class: the same action is given every time."""
    for each in steps(source):
        function, loops = function_of(source, each.call), loops_of(source, each.call)
        if not isinstance(function, ast.FunctionDef) or function.name != "step" or class_of(source, each.call) is None:
            continue
        loop = loops[0] if len(loops) == 1 else None
        given = {argument.arg for argument in function.args.args}
        if isinstance(loop, ast.For) and each.action is not None and dotted(each.action) in given:
            yield each, loop, function


def leaves(loop: ast.For) -> bool:
    """Whether it may end early."""
    return any(isinstance(node, ast.Break | ast.Return | ast.Raise) for node in ast.walk(loop))


def uses(node: ast.AST, name: str) -> list[ast.AST]:
    """Where a name is read."""
    return [
        each
        for each in ast.walk(node)
        if isinstance(each, ast.Name | ast.Attribute) and isinstance(each.ctx, ast.Load) and dotted(each) == name
    ]
