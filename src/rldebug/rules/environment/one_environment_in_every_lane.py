"""Several lanes of a vector environment are one and the same environment."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import classes, reaching
from rldebug.syntax.flow import returned, within
from rldebug.syntax.kinds import kind
from rldebug.syntax.made_envs import length, vector_envs
from rldebug.syntax.names import constant, dotted
from rldebug.syntax.places import Function


@dataclass(frozen=True, kw_only=True)
class OneEnvironmentInEveryLane(Rule):
    """Several lanes of a vector environment are one and the same environment.

    ## What it checks
    A vector environment is given several makers that all hand out one environment that was made before: `[lambda:
    env] * n`, or `[lambda: env for _ in range(n)]`. Or a list of environments is one of them, repeated: `[Env()] * n`.
    Read from the source.

    ## Why it matters
    The lanes step and reset each other: an episode jumps whenever another lane acts, and each lane stores the
    observations of another one.

    ## Likely causes
    1. The environment is made outside of the function that should make it. Confirm: `envs.envs[0] is envs.envs[1]`.

    ## What to try first
    `[lambda: gym.make(…) for _ in range(n)]`.

    ## When it is fine
    With a single lane, which is not reported.

    ## References
    ENV-08 of bench/bugs.
    """

    code: ClassVar[str] = "ENV602"
    name: ClassVar[str] = "one-environment-in-every-lane"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("ENV303", "ENV029")

    def check(self, evidence: Source) -> Iterator[Finding]:
        for listed in ast.walk(evidence.tree):
            made = _times(evidence, listed)
            if made is not None:
                yield self.finding(
                    f"every place of the list holds the same environment: {evidence.quoted(made)} is made once",
                    where=evidence.at(listed),
                    seen=evidence.quoted(listed),
                    expected="an environment of its own in every place",
                    help=f"[{evidence.quoted(made)} for _ in range(n)]",
                    confidence=0.95,
                )
        for call, given in vector_envs(evidence):
            count = length(evidence, given)
            for maker in _repeated(evidence, given):
                one = _handed_out(evidence, maker)
                if one is not None and count != 1:
                    yield self.finding(
                        f"every lane is the same environment: {evidence.quoted(one)} was made once, before them",
                        where=evidence.at(maker),
                        seen=f"{evidence.quoted(given)} for {evidence.quoted(call.func)}",
                        expected="a maker that makes a new environment each time it is called",
                        help="[lambda: gym.make(…) for _ in range(n)]",
                        confidence=0.95,
                    )


def _times(source: Source, node: ast.AST) -> ast.expr | None:
    """The environment of `[Env()] * n`."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
        return None
    for side, times in ((node.left, node.right), (node.right, node.left)):
        if isinstance(side, ast.List) and len(side.elts) == 1 and constant(times) != 1:
            made = side.elts[0]
            if isinstance(made, ast.Call) and (kind(source, made) == "env" or _steps(source, made)):
                return made
    return None


def _steps(source: Source, made: ast.Call) -> bool:
    """Whether it is of a class with `reset` and `step`, and is no network or optimizer."""
    owner = classes(source).get(dotted(made.func))
    if owner is None or kind(source, made):
        return False
    methods = {each.name for each in owner.body if isinstance(each, Function)}
    return {"reset", "step"} <= methods


def _repeated(source: Source, given: ast.expr) -> Iterator[ast.Lambda | Function]:
    """The makers that stand in a list more than once."""
    inner: list[ast.expr] = []
    if isinstance(given, ast.BinOp) and isinstance(given.op, ast.Mult):
        inner = next((side.elts for side in (given.left, given.right) if isinstance(side, ast.List)), [])
    elif isinstance(given, ast.ListComp | ast.GeneratorExp):
        inner = [given.elt]
    elif isinstance(given, ast.List) and len(given.elts) > 1:
        inner = given.elts
    for each in inner:
        if isinstance(each, ast.Lambda):
            yield each
        for binding in reaching(source, each) if isinstance(each, ast.Name) else ():
            if isinstance(binding.node, ast.FunctionDef):
                yield binding.node


def _handed_out(source: Source, maker: ast.Lambda | Function) -> ast.expr | None:
    """The environment that a maker returns without making it."""
    values = [maker.body] if isinstance(maker, ast.Lambda) else list(returned(maker))
    if len(values) != 1 or not isinstance(values[0], ast.Name | ast.Attribute):
        return None
    bindings = reaching(source, values[0])
    own = {each.arg for each in [*maker.args.args, *maker.args.kwonlyargs]}
    inside = any(within(maker, each.node) for each in bindings)
    outside = bool(bindings) and not inside and all(each.whole is not None for each in bindings)
    return values[0] if outside and dotted(values[0]) not in own and kind(source, values[0]) == "env" else None
