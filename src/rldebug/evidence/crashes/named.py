"""Every tensor that the frames of a crash can name: local names, what objects hold, items of lists and dicts."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from types import BuiltinFunctionType, FrameType, FunctionType, MethodType, ModuleType
from typing import Any

from rldebug.evidence.crashes.facts import attributes, is_array, is_module, is_tensor, torch_of

_DEEP = 4  # steps from a name: agent.buffer.log_probs[3]
_MOST = 30_000  # values that are looked at in all frames together
_ITEMS = 4096  # of one collection
_PLAIN = (str, bytes, int, float, complex, bool, type(None), type, ModuleType, FunctionType, MethodType)


@dataclass(frozen=True)
class Named:
    """A value and how it is reached: `agent.buffer.log_probs[3]` is an item of `agent.buffer.log_probs`."""

    frame: FrameType
    path: str
    value: Any
    holder: str = ""  # the list or dict that it lies in, as the frame calls it
    owner: Any = None  # the object of which it is an attribute
    attribute: str = ""

    @property
    def kept(self) -> str:
        """What an assignment to it, or to what it lies in, is written as."""
        return self.holder or self.path


def named(frames: list[FrameType]) -> list[Named]:
    """Tensors, networks, optimizers and generators of the frames, those of the innermost frame first."""
    found: list[Named] = []
    budget = [_MOST]
    for frame in reversed(frames):
        roots = {name: value for name, value in frame.f_locals.items() if not name.startswith("__")}
        found.extend(_below(frame, roots, budget))
    # What the functions see of their file's top level, where that is not itself a frame.
    tops = {id(frame.f_locals) for frame in frames if frame.f_code.co_name == "<module>"}
    for frame in reversed(frames):
        if id(frame.f_globals) not in tops and frame.f_code.co_name != "<module>":
            tops.add(id(frame.f_globals))
            found.extend(_below(frame, {k: v for k, v in frame.f_globals.items() if not k.startswith("__")}, budget))
    return found


def _below(frame: FrameType, roots: dict[str, Any], budget: list[int]) -> Iterator[Named]:
    """Breadth first: the shortest name comes first. An object is looked into once in each frame."""
    ahead = deque((Named(frame, name, value), 0) for name, value in roots.items())
    seen: set[int] = set()
    while ahead and budget[0] > 0:
        each, depth = ahead.popleft()
        budget[0] -= 1
        value = each.value
        try:
            if is_tensor(value) or _is_generator(value):
                yield each
                continue
            if isinstance(value, _PLAIN) or is_array(value) or id(value) in seen:
                continue
            seen.add(id(value))
            if is_module(value) or is_optimizer(value):
                yield each
            if depth < _DEEP and not is_optimizer(value):
                ahead.extend((inner, depth + 1) for inner in _inside(each))
        except Exception:  # an object may answer anything in its own way
            continue


def _inside(each: Named) -> Iterator[Named]:
    value, path = each.value, each.path
    if isinstance(value, dict):
        for key, inner in list(value.items())[:_ITEMS]:
            if isinstance(key, str | int):
                yield Named(each.frame, f"{path}[{key!r}]", inner, each.holder or path, each.owner, each.attribute)
    elif isinstance(value, list | tuple | deque):
        # A tuple is one value in several parts, as the state of an LSTM is; a list is filled bit by bit.
        fixed = isinstance(value, tuple)
        for place, inner in enumerate(list(value)[:_ITEMS]):
            name = f"{path}[{place}]"
            yield Named(
                each.frame, name, inner, each.holder if fixed else each.holder or path, each.owner, each.attribute
            )
    elif isinstance(value, set | frozenset | BuiltinFunctionType):
        return
    else:
        held = attributes(value)
        if is_module(value):
            held = {**held.get("_parameters", {}), **held.get("_buffers", {}), **held.get("_modules", {})} | {
                name: inner for name, inner in held.items() if not name.startswith("_") and name != "training"
            }
        for name, inner in list(held.items())[:_ITEMS]:
            yield Named(each.frame, f"{path}.{name}", inner, "", value, name)


def is_optimizer(value: Any) -> bool:
    torch = torch_of()
    return torch is not None and isinstance(value, torch.optim.Optimizer)


def _is_generator(value: Any) -> bool:
    return type(value).__name__ == "generator"


def tensors(found: list[Named]) -> Iterator[Named]:
    return (each for each in found if is_tensor(each.value))


def modules(found: list[Named]) -> Iterator[Named]:
    return (each for each in found if is_module(each.value))


def optimizers(found: list[Named]) -> Iterator[Named]:
    return (each for each in found if is_optimizer(each.value))


def owners(found: list[Named]) -> dict[int, tuple[str, str]]:
    """id of a parameter -> the network that holds it, as the frames call it, and the parameter's name in that.

    An agent that is itself a module holds every network: it is the part of it that has a name that is told.
    """
    told: dict[int, tuple[str, str]] = {}
    networks = sorted(modules(found), key=lambda each: (each.path == "self", each.path.count("."), len(each.path)))
    for each in networks:
        for name, parameter in each.value.named_parameters():
            first, _, rest = name.partition(".")
            whole = each.path != "self" or not rest
            told.setdefault(id(parameter), (each.path, name) if whole else (f"self.{first}", rest))
    for each in tensors(found):
        if each.value.is_leaf and each.value.requires_grad and not each.holder:
            told.setdefault(id(each.value), (each.path, ""))
    return told


def parameter_name(owner: tuple[str, str]) -> str:
    network, name = owner
    return f"{network}.{name}" if name else network
