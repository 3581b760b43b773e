"""Every action is chosen from the first observation of the episode."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import Binding, reaching
from rldebug.syntax.flow import computed_from, put_in, within
from rldebug.syntax.names import dotted, method, receiver
from rldebug.syntax.places import above
from rldebug.syntax.stepping import is_env, rounds, steps


@dataclass(frozen=True, kw_only=True)
class ObservationNeverAdvanced(Rule):
    """Every action is chosen from the first observation of the episode.

    ## What it checks
    In a loop that steps an environment, the action is computed from a name that holds what `reset()` gave, and
    nothing in that loop gives it a new value, but another `reset()`; what `step()` gives has another name. Read from
    the source.

    ## Why it matters
    The agent always sees the first state. What it does cannot depend on what happens, and what is stored says that
    no action changes anything.

    ## Likely causes
    1. `obs = next_obs` is missing at the end of the loop. Confirm: print the observation that the network is given.
    2. It is there, but one indentation too far out. Confirm: the same.

    ## What to try first
    `obs = next_obs` as the last line of the loop.

    ## When it is fine
    In a bandit, whose observation never changes.

    ## References
    ENV-06 of bench/bugs.
    """

    code: ClassVar[str] = "ENV603"
    name: ClassVar[str] = "observation-never-advanced"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("BUF316", "ENV305", "BUF006", "BUF300", "BUF303", "ACT300")

    def check(self, evidence: Source) -> Iterator[Finding]:
        for step in steps(evidence):
            loops = rounds(evidence, step)
            fresh = step.named("observation")
            if not loops or not fresh or step.action is None:
                continue
            for use in _asked_with(evidence, step.action):
                if use.id != fresh and within(loops[0], use) and _only_from_reset(evidence, use, loops[0]):
                    yield self.finding(
                        f"{use.id} stays what reset() gave in every step: {fresh} never becomes the next {use.id}",
                        where=evidence.at(use),
                        seen=f"{use.id} decides the action, and the loop of line {loops[0].lineno} never changes it",
                        expected=f"{use.id} = {fresh} in that loop",
                        help=f"{use.id} = {fresh} as the last line of the loop",
                        confidence=0.92,
                    )
                    break


def _asked_with(source: Source, action: ast.expr) -> Iterator[ast.Name]:
    """Names that an action is computed from, by way of some call."""
    for each in computed_from(source, action):
        given = [*each.args, *(one.value for one in each.keywords)] if isinstance(each, ast.Call) else []
        yield from (one for value in given for one in ast.walk(value) if isinstance(one, ast.Name))


def _only_from_reset(source: Source, use: ast.Name, loop: ast.AST) -> bool:
    bindings = reaching(source, use)
    inside = [each for each in bindings if within(loop, each.node)]
    if not bindings or any(each.value is None for each in bindings) or len(inside) == len(bindings):
        return False
    if not all(_begins_anew(source, each, loop) for each in inside):
        return False
    from_env = [one for each in bindings if each.value is not None for one in _asked_env(source, each.value)]
    of_first = all(each.how == "assigned" and (not each.path or each.path[0] == 0) for each in bindings)
    changed = any(_changes(node, use.id) for node in ast.walk(loop))
    return bool(from_env) and all(method(each) == "reset" for each in from_env) and of_first and not changed


def _begins_anew(source: Source, binding: Binding, loop: ast.AST) -> bool:
    """`obs, _ = env.reset()` in a branch of the loop, scaled or cast maybe: where an episode is over."""
    found = [] if binding.value is None else list(_asked_env(source, binding.value))
    resets = bool(found) and all(method(each) == "reset" for each in found)
    around = takewhile(lambda each: each is not loop, above(source, binding.node))
    return resets and any(isinstance(each, ast.If) for each in around)


def _asked_env(source: Source, value: ast.expr) -> Iterator[ast.Call]:
    """Not beyond what things are put into one by one: a statistic of a data set is no first observation."""
    for one in computed_from(source, value, until=lambda each: any(True for _ in put_in(source, each))):
        if isinstance(one, ast.Call) and method(one) in ("reset", "step") and is_env(source, receiver(one)):
            yield one


def _changes(node: ast.AST, name: str) -> bool:
    """In place: `obs[:] = …`, `obs.copy_(…)`, `copyto(obs, …)`, `del`, or as somebody's `out=`."""
    if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store):
        return dotted(node.value) == name
    if isinstance(node, ast.Call):
        if method(node).endswith("_") or method(node) in ("append", "update", "push", "appendleft"):
            return dotted(receiver(node) or node) == name
        if method(node) == "copyto":
            return bool(node.args) and dotted(node.args[0]) == name
    return False
