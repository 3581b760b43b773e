"""How environments were made: by which library, whose step() has its own form, and of how many lanes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

from rldebug.evidence.source import Source
from rldebug.syntax.bindings import classes
from rldebug.syntax.flow import held, meant
from rldebug.syntax.names import argument, dotted, imports, library, method, receiver
from rldebug.syntax.numbers import number
from rldebug.syntax.places import calls

Convention = Literal["gymnasium", "sb3", ""]
_VECTORS = ("SyncVectorEnv", "AsyncVectorEnv", "DummyVecEnv", "SubprocVecEnv")
_MADE = ("gymnasium.make", "gymnasium.make_vec", "gymnasium.vector.make")
_DEEPEST = 10


def convention(source: Source, env: ast.expr | None) -> Convention:
    """Whose form step() and reset() have: Gymnasium's (five and two parts), or that of the vector environments of
    Stable-Baselines3 (four and one). Empty where a class of this file is in between, or the old `gym`."""
    if env is None:
        return ""
    made = set(_makers(source, env, _DEEPEST))
    told: set[Convention] = {_convention(source, each) for each in made}
    return next(iter(told)) if len(told) == 1 else ""


def makers(source: Source, env: ast.expr) -> list[ast.Call]:
    """The calls that an environment may come from, the outermost wrapper first."""
    return list(dict.fromkeys(_makers(source, env, _DEEPEST)))


def _makers(source: Source, node: ast.expr, depth: int) -> Iterator[ast.Call]:
    if depth <= 0:
        return
    if isinstance(node, ast.Call):
        inner = [each for each, _ in held(source, node)] if not library(source, node) else []
        for each in inner:
            yield from _makers(source, each, depth - 1)
        if not inner:
            yield node
        return
    for each, by in held(source, node):
        if by is None or (by.how in ("assigned", "entered") and not by.path):
            yield from _makers(source, each, depth - 1)
        else:
            yield ast.Call(func=ast.Name(id="?", ctx=ast.Load()), args=[], keywords=[])


def _convention(source: Source, call: ast.Call) -> Convention:
    name, first = library(source, call), dotted(call.func).partition(".")[0]
    home = imports(source).get(first, "").partition(".")[0]
    package, _, last = name.rpartition(".")
    if package.startswith("stable_baselines3.common.vec_env") and last[:1].isupper():
        return "sb3"
    if last == "make_vec_env" and package.startswith("stable_baselines3."):
        return "sb3"
    if home != "gymnasium":
        return ""
    if name in _MADE or (package == "gymnasium.vector" and last[:1].isupper()):
        return "gymnasium"
    if name.startswith("gymnasium.wrappers.") and call.args:
        return convention(source, call.args[0])
    return ""


@lru_cache(maxsize=512)
def vector_envs(source: Source) -> tuple[tuple[ast.Call, ast.expr], ...]:
    """`SyncVectorEnv(makers)` and the like, with the list of makers as far back as it is one."""
    found = []
    for call in calls(source):
        if library(source, call).rpartition(".")[2] in _VECTORS and dotted(call.func) not in classes(source):
            given = argument(call, 0, "env_fns")
            if given is not None:
                found.append((call, meant(source, given)))
    return tuple(found)


def lanes(source: Source, env: ast.expr) -> float | None:
    """How many environments are stepped at once, where the text gives the number."""
    counts = {_lanes(source, each) for each in makers(source, env)}
    return next(iter(counts)) if len(counts) == 1 else None


def _lanes(source: Source, call: ast.Call) -> float | None:
    name = library(source, call)
    if name in ("gymnasium.make_vec", "gymnasium.vector.make"):
        return number(source, argument(call, 1, "num_envs"))
    if name.endswith(".make_vec_env"):
        given = argument(call, 1, "n_envs")
        return 1.0 if given is None else number(source, given)
    if name.rpartition(".")[2] in _VECTORS:
        given = argument(call, 0, "env_fns")
        return None if given is None else length(source, meant(source, given))
    if name.startswith(("gymnasium.wrappers.", "stable_baselines3.common.vec_env.")) and call.args:
        return lanes(source, call.args[0])
    return None


def length(source: Source, node: ast.expr) -> float | None:
    """How long a list is that the text builds: literal, comprehension over range(), `[x] * n`."""
    if isinstance(node, ast.List | ast.Tuple):
        return None if any(isinstance(each, ast.Starred) for each in node.elts) else float(len(node.elts))
    if isinstance(node, ast.ListComp | ast.GeneratorExp) and len(node.generators) == 1:
        over = node.generators[0].iter
        if isinstance(over, ast.Call) and dotted(over.func) == "range" and len(over.args) == 1:
            return number(source, over.args[0])
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        inner, times = (node.left, node.right) if isinstance(node.left, ast.List) else (node.right, node.left)
        one, many = length(source, inner), number(source, times)
        return one * many if isinstance(inner, ast.List) and one is not None and many is not None else None
    return None


def unwrapped(source: Source, node: ast.expr) -> ast.expr | None:
    """What `.env` or `.unwrapped` is taken of, where that was made by `gymnasium.make`."""
    if not (isinstance(node, ast.Attribute) and node.attr in ("env", "unwrapped")):
        return None
    made = makers(source, node.value)
    plain = [each for each in made if library(source, each) == "gymnasium.make"]
    return node.value if made and len(plain) == len(made) else None


def reset_calls(source: Source) -> Iterator[tuple[ast.Call, ast.expr]]:
    """Calls of reset(), and of what."""
    for call in calls(source):
        inner = receiver(call)
        if method(call) == "reset" and inner is not None:
            yield call, inner
