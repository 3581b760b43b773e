"""The backward graph of a loss that failed, gone through without harm: which nodes are freed, what it leads to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from rldebug.evidence.crashes.facts import is_tensor

_NODES = 100_000
_VIEWS = re.compile(r"^(T|AsStrided|View|Transpose|Permute|Expand|Unsqueeze|Squeeze|Slice|Select|Unsafe\w*View|Alias)")
_CHANGED = re.compile(r"\[torch\.\S+ \[([\d, ]*)\]\].*?is at version (\d+); expected version (\d+)")


@dataclass
class Walk:
    """The nodes behind some tensors; children before parents in `order`."""

    nodes: dict[int, Any] = field(default_factory=dict)  # id -> node; keeps them alive, ids stay theirs
    order: list[int] = field(default_factory=list)
    children: dict[int, list[int]] = field(default_factory=dict)
    freed: set[int] = field(default_factory=set)
    saving: set[int] = field(default_factory=set)  # those that keep tensors at all


def roots_of(frames: list[FrameType]) -> list[Any]:
    """The tensors whose gradient was asked for: from the frames of torch that were at work."""
    for frame in frames:
        module, name = frame.f_globals.get("__name__", ""), frame.f_code.co_name
        values = frame.f_locals
        asked = None
        if module == "torch._tensor" and name == "backward":
            asked = values.get("self")
        elif module == "torch.autograd" and name == "backward":
            asked = values.get("tensors")
        elif module == "torch.autograd" and name == "grad":
            asked = values.get("outputs")
        elif module == "torch.autograd.graph" and name == "_engine_run_backward":
            asked = values.get("t_outputs")
        if asked is not None:
            return [each for each in ([asked] if is_tensor(asked) else asked) if is_tensor(each)]
    return []


def walk(tensors: Iterable[Any]) -> Walk:
    told = Walk()
    ahead: list[tuple[Any, bool]] = [(each.grad_fn, False) for each in tensors if each.grad_fn is not None]
    while ahead and len(told.nodes) < _NODES:
        node, done = ahead.pop()
        if done:
            told.order.append(id(node))
            continue
        if id(node) in told.nodes:
            continue
        told.nodes[id(node)] = node
        below = [child for child, _ in node.next_functions if child is not None]
        told.children[id(node)] = [id(child) for child in below]
        ahead.append((node, True))
        ahead.extend((child, False) for child in below)
    for place, node in told.nodes.items():
        state = saved_state(node)
        if state is not None:
            told.saving.add(place)
            if state:
                told.freed.add(place)
    return told


def _saved(node: Any) -> list[str]:
    """The attributes under which a node keeps tensors, those with hooks left out: unpacking would run user code."""
    names: list[str] = _SAVED.setdefault(type(node), [])
    if not names:
        # The raw ones exist for tensors only, not for sizes and numbers.
        names.extend(each.removeprefix("_raw") for each in dir(type(node)) if each.startswith("_raw_saved_"))
        names.append("")  # looked up, also where there are none
    return [each for each in names if each and not _hooked(node, each)]


_SAVED: dict[type, list[str]] = {}


def _hooked(node: Any, name: str) -> bool:
    try:
        kept = getattr(node, f"_raw{name}")
        kept = kept if isinstance(kept, tuple | list) else (kept,)
        return any(getattr(each, "unpack_hook", None) is not None for each in kept)
    except Exception:
        return False


def _attribute(name: str) -> str:
    return "saved_tensors" if name == "_saved_tensors" else name  # a Function of the user's


def saved_state(node: Any) -> bool | None:
    """Whether a backward() has freed what a node keeps; None where it keeps no tensors."""
    names = _saved(node)
    if not names:
        return None
    for name in names:
        try:
            getattr(node, _attribute(name))
        except RuntimeError as error:
            if "second time" in str(error) or "already been freed" in str(error):
                return True
        except Exception:
            continue
    return False


def changed_in(told: Walk) -> list[tuple[Any, list[int], int, int]]:
    """The nodes whose kept tensor was changed in place: node, its shape, its version, the version that was kept."""
    found = []
    for node in told.nodes.values():
        for name in _saved(node):
            try:
                getattr(node, _attribute(name))
            except RuntimeError as error:
                if (match := _CHANGED.search(str(error))) is not None:
                    found.append((node, *change_told(match)))
            except Exception:
                continue
    return found


def change_in(message: str) -> tuple[list[int], int, int] | None:
    """What PyTorch says of a tensor that was changed in place."""
    match = _CHANGED.search(message)
    return match and change_told(match)


def change_told(match: re.Match[str]) -> tuple[list[int], int, int]:
    shape = [int(each) for each in match.group(1).replace(" ", "").split(",") if each]
    return shape, int(match.group(2)), int(match.group(3))


def leaves(told: Walk, start: Iterable[int], *, without: Iterable[int] = ()) -> list[Any]:
    """The parameters below some nodes; what lies below `without` only is left out."""
    seen, ahead, found = set(without), list(start), []
    while ahead:
        place = ahead.pop()
        if place in seen:
            continue
        seen.add(place)
        variable = getattr(told.nodes.get(place), "variable", None)
        if is_tensor(variable):
            found.append(variable)
        ahead.extend(told.children.get(place, ()))
    return found


def leaf_through_views(node: Any) -> list[Any]:
    """The parameters that a node was given directly, or turned round, cut or reshaped."""
    found, ahead = [], [child for child, _ in node.next_functions if child is not None]
    for _ in range(64):
        if not ahead:
            break
        each = ahead.pop()
        variable = getattr(each, "variable", None)
        if is_tensor(variable):
            found.append(variable)
        elif _VIEWS.match(each.name()):
            ahead.extend(child for child, _ in each.next_functions if child is not None)
    return found


def all_freed(told: Walk) -> set[int]:
    """Nodes below which nothing is kept any more: every node that keeps tensors is freed, and there is one."""
    good: dict[int, tuple[bool, bool]] = {}  # id -> (one is freed, one is not)
    for place in told.order:
        freed, live = place in told.freed, place in told.saving and place not in told.freed
        for child in told.children[place]:
            below = good.get(child, (False, False))
            freed, live = freed or below[0], live or below[1]
        good[place] = (freed, live)
    return {place for place, (freed, live) in good.items() if freed and not live}
