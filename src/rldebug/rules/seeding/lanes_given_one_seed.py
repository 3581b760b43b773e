"""All lanes of a vector environment are made with the same seed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import called, given_for, parameters
from rldebug.syntax.flow import meant
from rldebug.syntax.kinds import kind
from rldebug.syntax.made_envs import length, vector_envs
from rldebug.syntax.names import argument, constant, dotted, method, receiver
from rldebug.syntax.places import Function, calls


@dataclass(frozen=True, kw_only=True)
class LanesGivenOneSeed(Rule):
    """All lanes of a vector environment are made with the same seed.

    ## What it checks
    The makers of a vector environment are made by a function that seeds the environment with one of its parameters,
    and that parameter is the same for every lane. Read from the source.

    ## Why it matters
    All lanes play the same episodes as long as they act alike: n environments give the data of far fewer, and look
    fine.

    ## Likely causes
    1. The number of the lane was left out: `make(seed)` in place of `make(seed + i)`. Confirm: compare the first
       observations of the lanes.

    ## What to try first
    `make(seed + i)` for lane i, or no seed in the makers and `envs.reset(seed=seed)`, which gives each lane its
    own.

    ## When it is fine
    Where lanes are meant to begin alike.

    ## References
    SEE-01 of bench/bugs.
    """

    code: ClassVar[str] = "SEE607"
    name: ClassVar[str] = "lanes-given-one-seed"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("SEE302", "SEE001")

    def check(self, evidence: Source) -> Iterator[Finding]:
        for call in calls(evidence):
            given = argument(call, len(call.args), "seed") if method(call) == "reset" else None
            element, lane = _element(meant(evidence, given)) if given is not None else (None, set())
            if given is None or element is None or kind(evidence, receiver(call)) != "vector-env":
                continue
            if length(evidence, meant(evidence, given)) == 1 or (
                isinstance(element, ast.Constant) and element.value is None
            ):
                continue
            if not any(isinstance(each, ast.Call) or dotted(each) in lane for each in ast.walk(element)):
                name = evidence.quoted(element)
                yield self.finding(
                    f"every lane is reset with the same {name}: they play the same episodes",
                    where=evidence.at(call),
                    seen=evidence.quoted(call),
                    expected=f"{name} + the number of the lane",
                    help=f"reset(seed={name}): each lane gets a number of its own",
                    confidence=0.9,
                )
        for call, given in vector_envs(evidence):
            element, lane = _element(given)
            if element is None or length(evidence, given) == 1 or _seeded_later(evidence, call):
                continue
            maker = element.body if isinstance(element, ast.Lambda) else element
            function = called(evidence, maker) if isinstance(maker, ast.Call) else None
            if not isinstance(maker, ast.Call) or function is None:
                continue
            for parameter in _seeds_with(function):
                value = given_for(function, parameter, maker)
                if value is None or (constant(value) is None and isinstance(value, ast.Constant)):
                    continue
                if any(isinstance(each, ast.Call) or dotted(each) in lane for each in ast.walk(value)):
                    continue
                if lane & {dotted(each) for each in ast.walk(maker) if dotted(each)} and _mixes(function, parameter):
                    continue
                name = evidence.quoted(value)
                yield self.finding(
                    f"every lane is seeded with the same {name}: they play the same episodes",
                    where=evidence.at(maker),
                    seen=f"{evidence.quoted(maker)} for each lane, and {function.name}() seeds with {parameter}",
                    expected=f"{name} + the number of the lane",
                    help=f"{name} + i, with i the number of the lane",
                    confidence=0.88,
                )


def _element(given: ast.expr) -> tuple[ast.expr | None, set[str]]:
    """What every place of a list of makers is written as, and the variables that number the lanes."""
    if isinstance(given, ast.ListComp | ast.GeneratorExp):
        names = [each for one in given.generators for each in ast.walk(one.target) if isinstance(each, ast.Name)]
        return given.elt, {each.id for each in names}
    if isinstance(given, ast.BinOp) and isinstance(given.op, ast.Mult):
        inner = next((side for side in (given.left, given.right) if isinstance(side, ast.List)), None)
        return (inner.elts[0] if inner is not None and len(inner.elts) == 1 else None), set()
    return None, set()


def _seeds_with(function: Function) -> list[str]:
    """The parameters that a maker resets or seeds the environment with."""
    names = {each.arg for each in parameters(function)}
    found = []
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and method(node) == "reset":
            given = next((each.value for each in node.keywords if each.arg == "seed"), None)
            inside = {each.id for each in ast.walk(given) if isinstance(each, ast.Name)} if given is not None else set()
            found += sorted(inside & names)
    return list(dict.fromkeys(found))


def _mixes(function: Function, parameter: str) -> bool:
    """Whether the seed is more than the parameter itself, such as `seed + rank`."""
    given = [
        each.value
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and method(node) == "reset"
        for each in node.keywords
        if each.arg == "seed"
    ]
    names = [each for each in ast.walk(function) if isinstance(each, ast.Name) and each.id == parameter]
    rebound = any(isinstance(each.ctx, ast.Store) for each in names)
    return rebound or any(dotted(each) != parameter for each in given)


def _seeded_later(source: Source, call: ast.Call) -> bool:
    """Whether the vector environment is seeded as a whole: it gives each lane a number of its own."""
    for each in calls(source):
        env = receiver(each)
        if method(each) == "seed" and env is not None and kind(source, env) == "vector-env":
            return True
        seeded = method(each) == "reset" and any(one.arg == "seed" for one in each.keywords)
        if seeded and env is not None and kind(source, env) == "vector-env":
            return True
    return False
