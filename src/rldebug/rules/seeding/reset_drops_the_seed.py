"""An own `reset()` takes a seed and does nothing with it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import classes, first_parameter
from rldebug.syntax.kinds import class_kind
from rldebug.syntax.names import dotted, method, receiver
from rldebug.syntax.places import Function, calls_in


@dataclass(frozen=True, kw_only=True)
class ResetDropsTheSeed(Rule):
    """An own `reset()` takes a seed and does nothing with it.

    ## What it checks
    In a class that inherits from `gymnasium.Env` or a wrapper, `reset()` has a parameter `seed`, or takes
    `**kwargs`, and never reads it. Read from the source.

    ## Why it matters
    `env.reset(seed=…)` has no effect, and nothing says so: runs with the same seed differ, and evaluation on fixed
    episodes is none.

    ## Likely causes
    1. `super().reset(seed=seed)` is missing in an environment. Confirm: reset twice with one seed and compare.
    2. A wrapper calls `self.env.reset()` without what it was given. Confirm: the same.

    ## What to try first
    `super().reset(seed=seed)` in an environment, `self.env.reset(seed=seed, options=options)` in a wrapper.

    ## When it is fine
    In an environment without any randomness.

    ## References
    WRP-07 of bench/bugs. Gymnasium, *Create a custom environment*.
    """

    code: ClassVar[str] = "SEE604"
    name: ClassVar[str] = "reset-drops-the-seed"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("SEE004",)

    def check(self, evidence: Source) -> Iterator[Finding]:
        for owner in classes(evidence).values():
            resets = [each for each in owner.body if isinstance(each, Function) and each.name == "reset"]
            if not resets or class_kind(evidence, owner) != "env":
                continue
            lost = _unread_seed(resets[0])
            if lost and (_draws(evidence, owner) or _asks_inner(evidence, resets[0])):
                inner = _asks_inner(evidence, resets[0])
                call = "self.env.reset" if inner else "super().reset"
                given = f"**{lost}" if lost != "seed" else "seed=seed"
                yield self.finding(
                    f"reset() of {owner.name} takes {lost} and never uses it: seeds have no effect",
                    where=evidence.at(inner or resets[0]),
                    seen=evidence.quoted(inner) if inner else f"nothing in {owner.name}.reset() reads {lost}",
                    expected=f"{call}({given})",
                    help=f"{call}({given}) in {owner.name}.reset()",
                    confidence=0.85,
                )


def _unread_seed(reset: Function) -> str:
    """The name of the parameter that a seed comes by, where nobody reads it; empty where somebody does."""
    arguments = reset.args
    named = any(each.arg == "seed" for each in [*arguments.args, *arguments.kwonlyargs])
    name = "seed" if named else arguments.kwarg.arg if arguments.kwarg is not None else ""
    read = any(isinstance(node, ast.Name) and node.id == name for each in reset.body for node in ast.walk(each))
    local = any(isinstance(node, ast.Call) and dotted(node.func) == "locals" for node in ast.walk(reset))
    return "" if read or local else name


def _asks_inner(source: Source, reset: Function) -> ast.Call | None:
    """The call by which a wrapper resets what it wraps."""
    for call in calls_in(reset):
        inner = receiver(call)
        if method(call) == "reset" and inner is not None:
            above_it = isinstance(inner, ast.Call) and dotted(inner.func) == "super"
            if dotted(inner) == f"{first_parameter(reset)}.env" or above_it:
                return call
    return None


def _draws(source: Source, owner: ast.ClassDef) -> bool:
    """Whether an environment draws from the generator that the seed is for."""
    return any(isinstance(node, ast.Attribute) and node.attr == "np_random" for node in ast.walk(owner))
