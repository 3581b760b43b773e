"""An own `reset()` starts its random generator with the same seed every time."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import first_parameter, parameters
from rldebug.syntax.names import argument, constant, dotted, library, method, receiver
from rldebug.syntax.places import Function, above, calls_in, class_of, function_of

_MADE = ("numpy.random.default_rng", "numpy.random.RandomState", "random.Random", "numpy.random.PCG64")
_SEEDED = ("numpy.random.seed", "random.seed", "torch.manual_seed")
_BRANCHES = (ast.If, ast.IfExp, ast.BoolOp, ast.Try, ast.While, ast.For, ast.Match)


@dataclass(frozen=True, kw_only=True)
class GeneratorMadeAnewInReset(Rule):
    """An own `reset()` starts its generator with the same seed every time.

    ## What it checks
    `reset()` stands beside `step()`, in a class or in a function that makes both. Each call of it makes a random
    generator, or seeds one, with a number that never changes: a constant, or an attribute that only `__init__` writes.
    Read from the source.

    ## Why it matters
    Every episode begins at the same place and meets the same chance events. The agent learns one episode by heart, and
    an evaluation in that environment shows how well it has.

    ## Likely causes
    1. The generator belongs into `__init__`. Confirm: print the first observation of three episodes.
    2. `super().reset(seed=seed)` was given a number of its own. Confirm: the same.

    ## What to try first
    Make the generator once, in `__init__`; in `reset()` only where a seed is given.

    ## When it is fine
    An environment for tests that is to repeat one episode.

    ## References
    Gymnasium, *Env.reset*: seed once, right after the environment has been made.
    """

    code: ClassVar[str] = "SEE608"
    name: ClassVar[str] = "generator-made-anew-in-reset"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("SEE005", "SEE300")

    def check(self, evidence: Source) -> Iterator[Finding]:
        for reset in _resets(evidence):
            for call in calls_in(reset):
                seed = _seed_of(evidence, call)
                if seed is None or not _same(evidence, reset, seed) or _now_and_then(evidence, reset, call):
                    continue
                yield self.finding(
                    "reset() starts the random generator with the same seed every time",
                    where=evidence.at(call),
                    seen=f"{evidence.quoted(call)} in every reset()",
                    expected="a generator that goes on from one episode to the next",
                    help="make the generator once, in __init__; seed it in reset() only where a seed is given",
                    confidence=0.85,
                )
                break


def _resets(source: Source) -> Iterator[Function]:
    """Those that stand beside a `step`."""
    for node in ast.walk(source.tree):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            beside = {each.name: each for each in node.body if isinstance(each, Function)}
            if "reset" in beside and "step" in beside:
                yield beside["reset"]


def _seed_of(source: Source, call: ast.Call) -> ast.expr | None:
    """What a generator is made of, or seeded with."""
    name = library(source, call)
    if name in _MADE or name in _SEEDED:
        return argument(call, 0, "seed")
    inner = receiver(call)
    if inner is None or dotted(inner).endswith("space"):
        return None  # what a space draws is for trying out
    if method(call) == "reset" and isinstance(inner, ast.Call) and dotted(inner.func) == "super":
        return argument(call, 9, "seed")
    if method(call) in ("seed", "manual_seed") and isinstance(inner, (ast.Name, ast.Attribute)) and len(call.args) == 1:
        return call.args[0]
    return None


def _same(source: Source, reset: Function, seed: ast.expr) -> bool:
    """Whether it is one number for good."""
    if isinstance(constant(seed), int):
        return True
    if isinstance(seed, ast.Attribute) and dotted(seed) == f"{first_parameter(reset)}.{seed.attr}":
        owner = class_of(source, reset)
        return owner is not None and _written_by_init(source, owner, seed.attr)
    if isinstance(seed, ast.Name):  # of the function around, which makes both
        around = function_of(source, reset)
        mine = {each.arg for each in parameters(reset)}
        if around is None or seed.id in mine or seed.id not in {each.arg for each in parameters(around)}:
            return False
        return not any(
            isinstance(node, ast.Name) and node.id == seed.id and isinstance(node.ctx, ast.Store)
            for node in ast.walk(around)
        )
    return False


def _written_by_init(source: Source, owner: ast.ClassDef, name: str) -> bool:
    written = [
        node
        for node in ast.walk(owner)
        if isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Store)
    ]
    makers = [function_of(source, each) for each in written]
    elsewhere = any(
        isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Store)
        for node in ast.walk(source.tree)
        if node not in written
    )
    return bool(written) and not elsewhere and all(each is not None and each.name == "__init__" for each in makers)


def _now_and_then(source: Source, reset: Function, call: ast.Call) -> bool:
    """Under a condition, or the generator is only one of several things that a new one is mixed from."""
    for node in above(source, call):
        if node is reset:
            return False
        if isinstance(node, _BRANCHES):
            return True
    return True
