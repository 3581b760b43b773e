"""The calls of step() and reset() of environments, and what their parts are called, by their places."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import lru_cache

from rldebug.evidence.source import Source
from rldebug.syntax.bindings import reaching
from rldebug.syntax.flow import held
from rldebug.syntax.kinds import kind
from rldebug.syntax.names import dotted, method, receiver
from rldebug.syntax.places import class_of, loops_of, parents

_FIVE = ("observation", "reward", "terminated", "truncated", "info")
_FOUR = ("observation", "reward", "done", "info")


@dataclass(frozen=True)
class Step:
    """`o, r, terminated, truncated, info = env.step(a)`."""

    call: ast.Call
    statement: ast.Assign
    env: ast.expr
    parts: tuple[tuple[str, ast.expr], ...]  # role and what it is assigned to

    @property
    def action(self) -> ast.expr | None:
        return self.call.args[0] if len(self.call.args) == 1 else None

    def named(self, role: str) -> str:
        """The name that a part gets: `next_obs`; empty for others, and for `_`."""
        name = next((dotted(target) for told, target in self.parts if told == role), "")
        return "" if name.strip("_") == "" else name


@lru_cache(maxsize=512)
def steps(source: Source) -> tuple[Step, ...]:
    """Where an environment is stepped and the result is unpacked. super().step() inside of a wrapper counts too."""
    found = []
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Tuple):
            call, elements = node.value, node.targets[0].elts
            if isinstance(call, ast.Call) and method(call) in ("step", "step_wait") and _plain(elements):
                roles = {4: _FOUR, 5: _FIVE}.get(len(elements))
                env = receiver(call)
                if roles and env is not None and kind(source, env) not in ("optimizer", "scheduler"):
                    found.append(Step(call, node, env, tuple(zip(roles, elements, strict=True))))
    return tuple(found)


def rounds(source: Source, step: Step) -> list[ast.For | ast.While | ast.AsyncFor]:
    """The loops around a step, the innermost first, without those that go over environments: `for env in envs`."""
    stepped = {each.id for each in ast.walk(step.env) if isinstance(each, ast.Name)}
    return [
        loop
        for loop in loops_of(source, step.call)
        if isinstance(loop, ast.While)
        or not any(isinstance(each, ast.Name) and each.id in stepped for each in ast.walk(loop.target))
    ]


def _plain(elements: list[ast.expr]) -> bool:
    return not any(isinstance(each, ast.Starred) for each in elements)


def is_env(source: Source, expression: ast.expr | None) -> bool:
    """By how it was made, or by how it is used: step() gives four or five things."""
    if expression is None:
        return False
    if kind(source, expression) in ("env", "vector-env"):
        return True
    name, owner = dotted(expression), class_of(source, expression)
    alike = (each for each in steps(source) if dotted(each.env) == name)
    return bool(name) and any(class_of(source, each.call) is owner for each in alike)


def is_vector_env(source: Source, expression: ast.expr | None) -> bool:
    return expression is not None and kind(source, expression) == "vector-env"


@lru_cache(maxsize=4096)
def _step_of(source: Source, statement: ast.AST) -> Step | None:
    return next((each for each in steps(source) if each.statement is statement), None)


def roles(source: Source, expression: ast.expr, depth: int = 6) -> set[str]:
    """observation, reward, terminated, truncated, done, info: which parts of step() or reset() a name may hold.
    `next-observation` is one that came from step() in the same round; see `carried`."""
    found: set[str] = set()
    if depth <= 0 or not dotted(expression):
        return found
    for binding in reaching(source, expression):
        step = _step_of(source, binding.node)
        if step is not None and binding.path:
            found.add(step.parts[binding.path[0]][0])
        elif isinstance(binding.value, ast.Call) and method(binding.value) == "reset":
            if is_env(source, receiver(binding.value)):
                found.add("observation" if not binding.path or binding.path[0] == 0 else "info")
        else:
            for value, by in held(source, expression):
                if by is binding and binding.how == "assigned" and isinstance(value, ast.Name | ast.Attribute):
                    found |= roles(source, value, depth - 1)
    return found


def used_as_action(source: Source, expression: ast.expr) -> bool:
    """Whether a name is what some environment's step() is given in the same function or class."""
    name = dotted(expression)
    return bool(name) and any(name in _names(each.action) for each in steps(source) if each.action is not None)


def _names(node: ast.expr | None) -> set[str]:
    return {dotted(each) for each in ast.walk(node) if dotted(each)} if node is not None else set()


def discarded(source: Source, call: ast.Call) -> bool:
    """Whether nobody uses what a call gives."""
    return isinstance(parents(source).get(call), ast.Expr)
