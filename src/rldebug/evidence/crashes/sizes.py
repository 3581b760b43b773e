"""What the sizes in a message are in this program: the parameters of a module, a width, a number of environments.

A size is explained only where few things have it: of what ten things share nothing can be told.
"""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Iterable, Iterator
from itertools import combinations
from math import prod
from types import FrameType, FunctionType, ModuleType
from typing import Any

from rldebug.evidence.crashes.facts import attributes, is_array, is_module, is_tensor, kind_of, space_of, torch_of

_MISMATCH = re.compile(
    r"must match|must be equal|must be the same|must have (the )?same|could not be broadcast|could not broadcast"
    r"|not broadcastable|cannot be multiplied|is invalid for input of size|cannot reshape|equal size|size mismatch"
    r"|does(n't| not) match|don't match|does not broadcast|to match|match exactly|inconsistent|different to the input"
    r"|no larger than|should contain|sum exactly|multiply up|expected sequence of length|Expected hidden"
    r"|Expected size|expected input|unbatched"
)
_NO_SIZES = re.compile(
    r"(dim|dimensions?|index|operand|entry|position|number|axis|groups) ?=?\d+|\d+-?D\b|\d+ dimension|sizes provided "
    r"\(\d+\)"
)
_SIZE = re.compile(r"(?<![\w.])\d+(?:x\d+)*(?![\w]|\.\d)")
_SMALL = 2  # too many things are 1 or 2
_MANY = 1000  # parameters: below that, a count is easily that of something else
_MODULES, _OBJECTS = 24, 40  # that are looked at
_WIDTHS = (
    "in_features",
    "out_features",
    "input_size",
    "hidden_size",
    "num_embeddings",
    "embedding_dim",
    "num_features",
)
_SURE = ("len", "int", "prod", "max", "min", "round", "numel", "size", "flatdim", "get")

Candidate = tuple[int, int, str]  # how well it explains (0 best), the size, what has it


def sizes_in(message: str) -> list[int]:
    """The sizes that a message about shapes names; none of any other message."""
    if not _MISMATCH.search(message):
        return []
    found = (part for each in _SIZE.findall(_NO_SIZES.sub(" ", message)) for part in each.split("x"))
    return list(dict.fromkeys(int(each) for each in found if len(each) < 12))


def sizes_of(message: str, frames: list[FrameType], more: Iterable[int] = ()) -> dict[str, str]:
    """Size -> what it is, for the sizes in a message and those of the tensors that met. Frames: the user's own, the
    innermost last."""
    wanted = dict.fromkeys(sizes_in(message))
    if not wanted:
        return {}
    wanted |= dict.fromkeys(more)
    told: dict[str, str] = {}
    known = list(_candidates(frames[::-1]))
    known += _combined(known)
    for size in wanted:
        fits: dict[int, dict[str, None]] = {}
        for rank, number, what in known:
            if number == size:
                fits.setdefault(rank, {})[what] = None
        best = min(fits, default=None)
        if best is not None and len(fits[best]) <= 2:
            told[str(size)] = " or ".join(fits[best])
    return told


def _candidates(frames: list[FrameType]) -> Iterator[Candidate]:
    named = _named(frames)
    for name, value in named.items():
        kind = kind_of(value)
        if kind == "environment":
            yield from _of_environment(name, value)
        elif kind == "space":
            yield from _of_space(name, value)
        elif type(value) is int and value > _SMALL:
            yield 2, value, name
        elif isinstance(value, list) and len(value) > _SMALL:
            yield 4, len(value), f"the length of {name}"
    modules = _modules(named)
    counts = {name: _count(module) for name, module in modules.items()}
    yield from _of_modules(modules, counts)
    yield from _of_layers(modules)
    for name, value in named.items():
        if kind_of(value) == "optimizer":
            held = [each.numel() for group in value.param_groups for each in group["params"]]
            if sum(held) not in counts.values():
                yield 0 if sum(held) >= _MANY else 5, sum(held), f"all parameters of {name}"


# ── what is in reach ────────────────────────────────────────────────────────────────────────────────────────────────


def _named(frames: list[FrameType]) -> dict[str, Any]:
    """Local names, what objects hold, and the names of the file: the innermost first, each object once."""
    told: dict[str, Any] = {}
    seen: set[int] = set()
    scopes = [dict(frame.f_locals) for frame in frames]
    if frames:
        scopes.append(frames[0].f_globals)
    counters = {name for frame in frames for name in _unsure(frame.f_code.co_filename)}
    for scope in scopes:
        for name, value in scope.items():
            for path, each in [(name, value), *_held(name, value)]:
                # One object has one name; two settings may be the same number.
                again = path in counters if type(each) is int else id(each) in seen
                if not (path.startswith("_") or path in told or again):
                    seen.add(id(each))
                    told[path] = each
    return told


def _held(name: str, value: Any) -> list[tuple[str, Any]]:
    """`self.policy`, `args.num_envs`; of libraries' objects nothing but what environments tell."""
    if name.startswith("__") or isinstance(value, type | ModuleType | FunctionType) or is_tensor(value):
        return []
    if is_array(value) or is_module(value) or kind_of(value) in ("space", "optimizer", "distribution", "environment"):
        # An agent is often a module itself: what it counts is told too, its layers are below.
        own = is_module(value) and not type(value).__module__.startswith("torch.")
        return [(f"{name}.{key}", each) for key, each in attributes(value).items() if own and type(each) is int]
    if type(value) is dict:
        inside = {f"{name}[{key!r}]": each for key, each in list(value.items())[:_OBJECTS] if isinstance(key, str)}
        return list(inside.items())
    return [(f"{name}.{key}", each) for key, each in list(attributes(value).items())[:_OBJECTS]]


def _unsure(file: str) -> set[str]:
    """Names of a file whose number is that of a moment: counters, indices, what a call gave."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError, RecursionError):
        return set()
    told: set[str] = set()
    for _ in range(2):  # what is assigned from one of them is one of them, also where it is written before
        for node in ast.walk(tree):
            if isinstance(node, ast.AugAssign | ast.For | ast.comprehension):
                told |= _targets(node.target)
            elif isinstance(node, ast.Assign) and not _is_setting(node.value, told):
                told |= {name for target in node.targets for name in _targets(target)}
    return told


def _targets(node: ast.AST) -> set[str]:
    return {ast.unparse(each) for each in ast.walk(node) if isinstance(each, ast.Name | ast.Attribute)}


def _is_setting(value: ast.AST, unsure: set[str]) -> bool:
    nodes = list(ast.walk(value))
    called = [each.func for each in nodes if isinstance(each, ast.Call)]
    names = [each.attr if isinstance(each, ast.Attribute) else getattr(each, "id", "") for each in called]
    # In `args.num_envs` it does not matter where args comes from.
    bases = {id(each.value) for each in nodes if isinstance(each, ast.Attribute)}
    used = {each.id for each in nodes if isinstance(each, ast.Name) and id(each) not in bases}
    return all(name in _SURE or name[:1].isupper() for name in names) and not used & unsure


# ── what has a size ─────────────────────────────────────────────────────────────────────────────────────────────────


def _of_environment(name: str, env: Any) -> Iterator[Candidate]:
    count = attributes(env).get("num_envs", getattr(type(env), "num_envs", None))
    if type(count) is int and count > 1:
        yield 2, count, f"{name}.num_envs"
    for held in ("single_observation_space", "single_action_space", "observation_space", "action_space"):
        space = space_of(env, held)
        if kind_of(space) == "space" and not (type(count) is int and not held.startswith("single_")):
            yield from _of_space(f"{name}.{held}", space)


def _of_space(name: str, space: Any) -> Iterator[Candidate]:
    shape, n = getattr(space, "shape", None), getattr(space, "n", None)
    if n is not None and getattr(n, "shape", ()) == ():
        yield 1, int(n), f"{name}.n"
    elif isinstance(shape, tuple) and shape:
        yield 1, prod(shape), f"{name} {shape}" if len(shape) > 1 else name
        if len(shape) > 1:
            yield 1, shape[-1], f"the last axis of {name}"


def _modules(named: dict[str, Any]) -> dict[str, Any]:
    """Modules by name, with what is directly in them; each once, by its shortest name."""
    found = {name: value for name, value in named.items() if is_module(value)}
    inside = {
        f"{name}.{key}": child
        for name, module in found.items()
        for key, child in module.named_children()
        if not key.isdigit()
    }
    told: dict[int, tuple[str, Any]] = {}
    for name, module in sorted((found | inside).items(), key=lambda each: each[0].count(".")):
        told.setdefault(id(module), (name, module))
    return dict(list(told.values())[:_MODULES])


def _count(module: Any) -> int:
    return sum(each.numel() for each in module.parameters())


def _of_modules(modules: dict[str, Any], counts: dict[str, int]) -> Iterator[Candidate]:
    for name, count in counts.items():
        yield 0 if count >= _MANY else 5, count, f"the parameters of {name}"
    for one, other in combinations(modules, 2):
        both = counts[one] + counts[other]
        if both >= _MANY and not _share(modules[one], modules[other]) and counts[one] and counts[other]:
            yield 3, both, f"the parameters of {one} + {other} ({counts[one]} + {counts[other]})"


def _share(one: Any, other: Any) -> bool:
    return bool({id(each) for each in one.parameters()} & {id(each) for each in other.parameters()})


def _of_layers(modules: dict[str, Any]) -> Iterator[Candidate]:
    torch = torch_of()
    for name, module in modules.items():
        for path, layer in list(module.named_modules())[: _MODULES * 4]:
            full = f"{name}.{path}" if path else name
            if torch is not None and isinstance(layer, torch.nn.modules.conv._ConvNd):
                yield 3, layer.in_channels, f"the channels of {full}"
            for width in _WIDTHS:
                size = attributes(layer).get(width)
                if type(size) is int and size > _SMALL:
                    yield 3, size, f"{width} of {full}"


def _combined(known: list[Candidate]) -> Iterator[Candidate]:
    """Rows are often n_envs × n_steps; a critic is fed observation and action side by side."""
    numbers = {what: size for rank, size, what in known if rank in (1, 2) and size > 1}
    for (one, first), (other, second) in combinations(list(numbers.items())[:_OBJECTS], 2):
        yield 6, first * second, f"{one} × {other}"
    widths = {what: size for rank, size, what in known if rank == 1}
    for (one, first), (other, second) in combinations(list(widths.items())[:_OBJECTS], 2):
        if ("observation" in one) != ("observation" in other):
            yield 6, first + second, f"{one} + {other}"
