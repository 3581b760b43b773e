"""A convention: which argument is what, in which layout and container. Finds those under which a function runs."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from rldebug.oracles.bag import Asked, Bag, written
from rldebug.oracles.bind import (
    Binding,
    Signature,
    Slot,
    bindings,
    candidates,
    lacks,
    loose_numbers,
    meant_output,
    uses_reserve,
)
from rldebug.oracles.call import Raised, call
from rldebug.oracles.layout import CONTAINERS, Container, Unreadable, lay, layouts_of, pack, suits, unpack
from rldebug.oracles.oracle import Array, Case, Oracle, Quantity


@dataclass(frozen=True)
class Convention:
    """How a function is called. `fixed`: γ and its like, where the function brings its own."""

    signature: Signature
    binding: Binding
    layout: str
    container: Container
    flags_as: str
    fixed: Mapping[str, float] = field(default_factory=dict)

    @property
    def bound(self) -> frozenset[str]:
        return frozenset(each.name for each in self.binding.values())


@dataclass(frozen=True)
class Element:
    """One thing a function gave back, and the name it bears where it bears one."""

    name: str | None
    value: Array | Unreadable


@dataclass(frozen=True)
class Answer:
    """What a function gave back for a case."""

    elements: tuple[Element, ...]
    gradients: Mapping[int, Mapping[str, Array | None]] = field(
        default_factory=dict
    )  # of each element that is a tensor
    changed: tuple[str, ...] = ()  # arguments it wrote into


Outcome = Answer | Raised


def sizes_of(case: Case, oracle: Oracle) -> dict[str, int]:
    """How long each axis is, from the arrays of the case."""
    if "sizes" in case.given:
        return case["sizes"]  # type: ignore[no-any-return]
    sizes: dict[str, int] = {}
    for quantity in oracle.quantities:
        if quantity.axes:
            shape = np.shape(quantity.take(case))
            sizes |= {axis: int(length) for axis, length in zip(quantity.axes, shape, strict=True)}
    if "T" in sizes:
        sizes["U"] = sizes["T"] + 1
    elif "U" in sizes:
        sizes["T"] = sizes["U"] - 1
    return sizes


def ready(case: Case, oracle: Oracle, convention: Convention) -> Case:
    """With γ and its like as the function brings them, the sizes of its axes, and what the function is not told."""
    case = case.but(**convention.fixed) if convention.fixed else case
    return case if oracle.told is None else oracle.told(case, convention.bound)


def sized(case: Case, oracle: Oracle) -> Case:
    """With the lengths of its axes, which are asked for often."""
    sizes = sizes_of(case, oracle)
    single = any(sizes.get(axis) == 1 for axis in "TN")
    return dataclasses.replace(case.but(sizes={"T": 1, "B": 1, "N": 1, **sizes}), edge=case.edge or single)


def conventions(signature: Signature, oracle: Oracle, containers: Sequence[Container]) -> Iterator[Convention]:
    """Every way to call it, likeliest first."""
    axes = "".join(each.axes or "" for each in oracle.quantities)
    layouts = oracle.layouts or layouts_of(axes)
    flags = ("float", "bool") if any(each.kind == "flag" for each in oracle.quantities) else ("float",)
    for binding in bindings(signature, oracle):
        bound = frozenset(each.name for each in binding.values())
        for fixed in loose_numbers(signature.function, oracle, bound):
            # Where only objects and numbers are handed over, all containers and layouts are the same.
            any_arrays = any(each.axes for each in binding.values())
            any_flags = any(each.kind == "flag" for each in binding.values())
            for layout in layouts if any_arrays else layouts[:1]:
                for container in containers if any_arrays else containers[:1]:
                    for flags_as in flags if any_flags else flags[:1]:
                        yield Convention(signature, binding, layout, container, flags_as, fixed)


def ask(convention: Convention, oracle: Oracle, case: Case, function: Callable[..., Any] | None = None) -> Outcome:
    """Call the function, or another one in its place, on a case that is `ready`.

    Raises Asked where a bag was asked for a name not bound yet.
    """
    called = function or convention.signature.function
    outcome = _ask(convention, oracle, case, called, 0)
    if isinstance(outcome, Raised) and isinstance(outcome.error, IndexError) and convention.signature.bags:
        again = _ask(convention, oracle, case, called, 1)  # self.returns[T] = last_value: a row for what follows
        outcome = again if isinstance(again, Answer) else outcome
    return outcome


def _ask(convention: Convention, oracle: Oracle, case: Case, function: Callable[..., Any], more_rows: int) -> Outcome:
    """`more_rows`: of the arrays that are to be filled."""
    signature = convention.signature
    inputs: dict[str, Any] = {}
    leaves: dict[str, torch.Tensor] = {}

    def made(slot: Slot) -> Any:
        quantity = convention.binding[slot.name]
        value = _handed_over(quantity, case, convention, slot)
        if quantity.name in oracle.gradients and isinstance(value, torch.Tensor) and value.is_floating_point():
            leaves[quantity.name] = value.requires_grad_()
        return value

    def look(name: str) -> Any:
        slot = next((each for each in signature.slots if each.name == name), None)
        if slot is not None:
            return made(slot)
        key = name.rpartition(".")[2]
        output = meant_output(key, oracle)
        if output is not None:  # an array to be filled: self.advantages[t] = …
            zeros = np.zeros([case["sizes"][axis] + (axis == "T") * more_rows for axis in output.axes])
            return pack(lay(zeros, output.axes, convention.layout), "float", convention.container, "float")
        raise Asked(name)

    bags = {name: Bag(name, look, unpacked) for name, unpacked in signature.bags}
    for slot in signature.slots:
        if "." not in slot.name:
            inputs[slot.name] = made(slot)
    before = {name: _kept(value) for name, value in inputs.items()}
    order = [name for name in signature.positional if name in inputs or name in bags]
    everything = {**inputs, **bags}
    named = {name: value for name, value in everything.items() if name not in order}
    with torch.enable_grad() if leaves else torch.no_grad() if not oracle.gradients else torch.enable_grad():
        returned = call(function, [everything[name] for name in order], named)
        if isinstance(returned, Raised):
            if isinstance(returned.error, Asked):
                raise returned.error
            return returned
        by_quantity = {convention.binding[name].name: value for name, value in inputs.items()}
        if oracle.observe is not None:
            seen = oracle.observe(by_quantity, returned)
            if seen is not None:
                return Answer(tuple(Element(name, _array(value)) for name, value in seen.items()))
        elements = _elements(returned, oracle)
        if not elements:
            elements = _from_bags(bags.values(), oracle, convention.layout, more_rows)
        gradients = _gradients(returned, leaves)
    changed = tuple(name for name, kept in before.items() if kept is not None and not _same(kept, inputs[name]))
    return Answer(tuple(elements), gradients, changed)


def runs(convention: Convention, oracle: Oracle, case: Case) -> Outcome | Slot:
    """Try it on one case; a Slot says that a bag was asked for something, which is to be bound first."""
    try:
        return ask(convention, oracle, case)
    except Asked as asked:
        key = asked.name.rpartition(".")[2]
        found = candidates(key, oracle)
        if not found:
            error = AttributeError(f"it asks for {asked.name}, and nobody knows what that is")
            return Raised(error, str(error))
        return Slot(asked.name, found)


def _handed_over(quantity: Quantity, case: Case, convention: Convention, slot: Slot) -> Any:
    value = quantity.take(case)
    if quantity.axes is None:
        return copy.deepcopy(value) if quantity.kind == "object" else value
    if quantity.axes == "" and np.ndim(value) == 0:
        return value if not isinstance(value, np.generic) else value.item()
    container = convention.container if slot.container is None else slot.container
    laid = lay(np.asarray(value), quantity.axes, convention.layout)
    return pack(laid, quantity.kind, container, convention.flags_as)  # type: ignore[arg-type]


# ── what came back ──────────────────────────────────────────────────────────────────────────────────────────────────


def _elements(returned: Any, oracle: Oracle) -> list[Element]:
    if returned is None or isinstance(returned, Bag):  # `return batch`: what was written into it counts
        return []
    if isinstance(returned, Mapping):
        return [Element(str(name), _array(value)) for name, value in returned.items()]
    if isinstance(returned, tuple) and hasattr(returned, "_fields"):
        return [Element(name, _array(getattr(returned, name))) for name in returned._fields]
    if dataclasses.is_dataclass(returned) and not isinstance(returned, type):
        return [Element(each.name, _array(getattr(returned, each.name))) for each in dataclasses.fields(returned)]
    if isinstance(returned, tuple):
        return [Element(None, _array(each)) for each in returned if each is not None]
    return [Element(None, _array(returned))]


def _from_bags(bags: Any, oracle: Oracle, layout: str, more_rows: int) -> list[Element]:
    found = []
    for bag in bags:
        for name, value in written(bag).items():
            if meant_output(name, oracle) is None:
                continue
            array = unpack(value)
            if more_rows and not isinstance(array, Unreadable):  # what stands in the row for what follows is no output
                array = array[:, :-more_rows] if layout.startswith("(B, T") else array[:-more_rows]
            found.append(Element(name, array))
    return found


def _array(value: Any) -> Array | Unreadable:
    return unpack(value)


def _gradients(returned: Any, leaves: Mapping[str, torch.Tensor]) -> dict[int, dict[str, Array | None]]:
    """Of each tensor that came back, summed: which arguments it reaches, and with which slope."""
    if isinstance(returned, Mapping):
        returned = tuple(returned.values())
    parts = [each for each in returned if each is not None] if isinstance(returned, tuple) else [returned]
    names, found = list(leaves), {}
    for place, part in enumerate(parts if names else ()):
        if not isinstance(part, torch.Tensor) or not part.is_floating_point():
            continue  # a number tells nothing about gradients
        slopes: Sequence[torch.Tensor | None] = [None] * len(names)
        if part.requires_grad:
            inputs = [leaves[name] for name in names]
            slopes = torch.autograd.grad(part.sum(), inputs, allow_unused=True, retain_graph=True)
        found[place] = {
            name: None if slope is None else slope.double().numpy() for name, slope in zip(names, slopes, strict=True)
        }
    return found


def _kept(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if isinstance(value, (np.ndarray, list)):
        return copy.deepcopy(value)
    return None


def _same(kept: Any, value: Any) -> bool:
    if isinstance(kept, torch.Tensor):
        return kept.shape == value.shape and bool(torch.equal(torch.nan_to_num(kept), torch.nan_to_num(value.detach())))
    if isinstance(kept, np.ndarray):
        return kept.shape == value.shape and bool(np.array_equal(kept, value))
    return bool(kept == value)


def can(convention: Convention, oracle: Oracle, case: Case) -> bool:
    """Whether the case fits the layout and is fair to a function that takes these arguments."""
    return suits(convention.layout, sizes_of(case, oracle)) and oracle.is_fair(case, convention.bound)


def first_lack(signature: Signature, oracle: Oracle) -> str | None:
    """What every reading of the signature lacks; None where one has all that is required."""
    missing = None
    for binding in bindings(signature, oracle):
        missing = lacks(frozenset(each.name for each in binding.values()), oracle)
        if missing is None:
            return None
    return missing or (oracle.required[0].split("|")[0] if oracle.required else None)


def containers_for(signature: Signature) -> tuple[Container, ...]:
    asked = {slot.container for slot in signature.slots if slot.container is not None}
    return tuple(sorted(CONTAINERS, key=lambda each: each not in asked))


def plain_first(made: Sequence[Convention]) -> list[Convention]:
    """Without reserve quantities, where any such runs; else all."""
    ordinary = [each for each in made if not uses_reserve(each.binding)]
    return ordinary or list(made)
