"""Which argument is which quantity: the readings of a signature, likeliest first."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from rldebug.oracles.bag import asked_for, kept_by, returned_names, unpacking
from rldebug.oracles.names import BAGS, forms, meant, plain
from rldebug.oracles.oracle import Case, Oracle, Output, Quantity, Style
from rldebug.target import TargetError

MOST = 400  # readings of one signature that are tried


class SignatureError(TargetError):
    """The function cannot be called: says which argument is not understood, and how to say what it is."""


def _size(axis: str) -> Callable[[Case], Any]:
    return lambda case: case["sizes"][axis]


_STEPS = """
    n_steps num_steps nsteps steps horizon t length rollout_length rollout_steps max_steps buffer_size num_transitions
    seq_len time_steps timesteps unroll_length worker_steps
"""
_ENVS = "n_envs num_envs nenvs n_env num_env num_processes n_processes n_workers num_workers"
_ROWS = "batch_size n minibatch_size num_samples n_samples bs"

# Asked for by any function, whatever it computes.
UNIVERSAL = (
    Quantity("device", "device dev", None, "object", of=lambda case: torch.device("cpu")),
    Quantity("dtype", "dtype", None, "object", of=lambda case: torch.float32),
    Quantity("number of steps", _STEPS, None, "object", of=_size("T")),
    Quantity("number of environments", _ENVS, None, "object", of=_size("B")),
    Quantity("number of rows", _ROWS, None, "object", of=_size("N")),
)


@dataclass(frozen=True)
class Slot:
    """An argument, or an attribute of one that holds others, and the quantities it may be."""

    name: str
    candidates: tuple[Quantity, ...]
    container: str | None = None  # what its annotation asks for
    guessed: bool = False  # its name is not known: by elimination


Binding = Mapping[str, Quantity]  # slot name -> quantity


@dataclass(frozen=True)
class Signature:
    """The arguments of a function: those bound to quantities, those that hold others, those left at their defaults."""

    function: Callable[..., Any]
    slots: tuple[Slot, ...]
    bags: tuple[tuple[str, tuple[str, ...]], ...]  # name, and the names it is unpacked into
    positional: tuple[str, ...]  # arguments that cannot be given by name

    def with_slot(self, slot: Slot) -> Signature:
        return replace(self, slots=(*self.slots, slot))


def signature_of(
    function: Callable[..., Any], oracle: Oracle, given: Mapping[str, str], kind: type | None = None
) -> Signature:
    """Read a signature. `given`: the user's own mapping, quantity -> argument, or the other way round.

    `kind`: the class it is a method of; what its __init__ keeps is at hand, though the method may not read it.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError) as error:
        raise SignatureError(
            f"{_name(function)} has no signature that can be read: wrap it in a function of your own, such as "
            f"{oracle.example or oracle.name}"
        ) from error
    mapped = _mapped(given, oracle, list(signature.parameters))
    slots: list[Slot] = []
    bags: list[tuple[str, tuple[str, ...]]] = []
    unknown: list[str] = []
    positional: list[str] = []
    for name, parameter in signature.parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.kind is parameter.POSITIONAL_ONLY:
            positional.append(name)
        wanted = _annotated(parameter.annotation)
        if name in mapped:
            slots.append(Slot(name, mapped[name], wanted))
        elif found := candidates(name, oracle, parameter.default is parameter.empty):
            slots.append(Slot(name, found, wanted))
        elif parameter.default is not parameter.empty:
            continue
        elif plain(name) in BAGS or name == "self" or _holds_others(function, name, oracle):
            unpacked = unpacking(function, name)
            bags.append((name, unpacked))
            kept = kept_by(kind) if kind is not None and name == "self" else []
            for key in dict.fromkeys([*unpacked, *asked_for(function, name), *kept]):
                path = f"{name}.{key}"
                last = key.rpartition(".")[2]
                if path not in mapped and not meant_output(last, oracle) and (found := candidates(last, oracle)):
                    slots.append(Slot(path, found))
        else:
            unknown.append(name)
    rest = [each for each in oracle.quantities if each.name not in {q.name for s in slots for q in s.candidates[:1]}]
    for name in unknown:
        if not rest or len(unknown) > 3:
            raise SignatureError(_not_understood(function, unknown, oracle))
        annotation = _annotated(signature.parameters[name].annotation)
        slots.append(Slot(name, tuple(each for each in rest if not each.with_), annotation, guessed=True))
    slots += [Slot(name, found, None) for name, found in mapped.items() if "." in name]
    return Signature(function, tuple(slots), tuple(bags), tuple(positional))


def candidates(name: str, oracle: Oracle, needed: bool = True) -> tuple[Quantity, ...]:
    """The oracle's own first; `n` is the n of n-step returns there, and the number of rows elsewhere.

    Not `needed`: it has a default, and a device or a dtype that a function brings along suits it best.
    """
    return tuple(meant(name, oracle.quantities)) or (tuple(meant(name, UNIVERSAL)) if needed else ())


def _holds_others(function: Callable[..., Any], name: str, oracle: Oracle) -> bool:
    """An argument of another name, of which the oracle's quantities are read: `policy.saved_log_probs`."""
    return any(meant(each.rpartition(".")[2], oracle.quantities) for each in asked_for(function, name))


def meant_output(name: str, oracle: Oracle) -> Output | None:
    """The output that something of this name is: self.advantages."""
    found = meant(name, [Quantity(each.name, each.names) for each in oracle.outputs])
    return next((each for each in oracle.outputs if found and each.name == found[0].name), None)


def bindings(signature: Signature, oracle: Oracle) -> Iterator[Binding]:
    """Readings of the signature, likeliest first: those where every name means what it means first."""
    choices = [range(len(slot.candidates)) for slot in signature.slots]
    total = 1
    for each in choices:
        total *= len(each)
    picked = itertools.product(*choices) if total <= 50_000 else itertools.islice(itertools.product(*choices), 50_000)
    made = 0
    for pick in sorted(picked, key=sum):
        binding = {slot.name: slot.candidates[i] for slot, i in zip(signature.slots, pick, strict=True)}
        if _holds(binding):
            yield binding
            made += 1
            if made >= MOST:
                return


def uses_reserve(binding: Binding) -> bool:
    return any(each.reserve for each in binding.values())


def lacks(bound: frozenset[str], oracle: Oracle) -> str | None:
    """What an oracle cannot do without, and this reading does not have."""
    for need in oracle.required:
        if not set(need.split("|")) & bound:
            return need.split("|")[0]
    return None


def loose_numbers(function: Callable[..., Any], oracle: Oracle, bound: frozenset[str]) -> list[dict[str, float]]:
    """γ or λ where no argument is for it: from a global of that name, an attribute, or a number in the code."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    unbound = [
        each for each in oracle.quantities if each.axes == "" and each.kind == "float" and each.name not in bound
    ]
    if code is None or not unbound:
        return [{}]
    names, numbers = _names_and_numbers(code)
    inner = inspect.unwrap(function)
    space = {**getattr(inner, "__globals__", {}), **_closure(inner)}
    found: dict[str, list[float]] = {}
    for quantity in {each.name: each for each in unbound}.values():
        values = []
        for name in names:
            if not any(each.name == quantity.name for each in meant(name, oracle.quantities)):
                continue
            holders = [space.get(other) for other in names if other in space]
            values += [space[name]] if name in space else [getattr(each, name, None) for each in holders]
        plain_numbers = [float(v) for v in values if isinstance(v, (int, float)) and not isinstance(v, bool)]
        found[quantity.name] = plain_numbers[:1] or [each for each in numbers if 0.0 < each < 1.0][:3]
    found = {name: values for name, values in found.items() if values}
    if not found:
        return [{}]
    made = [dict(zip(found, values, strict=True)) for values in itertools.product(*found.values())]
    return [*made[:9], {}]


def method_of(kind: type, oracle: Oracle) -> Callable[..., Any]:
    """The method of a class that is most like the component: by its name, and by what it takes and reads from self."""
    words = {oracle.name, *oracle.aliases.split(), *(word for word in oracle.name.split("-") if len(word) > 2)}
    best: tuple[float, Callable[..., Any]] | None = None
    for name, method in vars(kind).items():
        if not inspect.isfunction(method) or (name.startswith("__") and name != "__call__"):
            continue
        try:
            slots = signature_of(method, oracle, {}, kind).slots
        except SignatureError:
            continue
        first = {slot.candidates[0].name for slot in slots if not slot.guessed}
        if not first or any(not set(need.split("|")) & first for need in oracle.required):
            continue
        called = plain(name).replace("_", "-")
        score = len(first) + 2.0 * sum(word in called for word in words) + (name == "__call__")
        if best is None or score > best[0]:
            best = score, method
    if best is None:
        raise SignatureError(
            f"{kind.__name__} is a class, and none of its methods takes what {oracle.name} needs: name the method, "
            f"{kind.__name__}.method, or wrap it: {oracle.example}"
        )
    return best[1]


def words_of(function: Callable[..., Any]) -> set[str]:
    """The words in the name of a function, of its class, and of what it returns."""
    names = [*_name(function).split("."), *returned_names(function)]
    return {word for name in names for word in plain(name).split("_")}


def styles_of(function: Callable[..., Any], oracle: Oracle) -> tuple[Style, ...]:
    """Those rightful for a function of this name, and for what it calls its result."""
    words = words_of(function)
    fitting = [
        each
        for each in oracle.styles
        if (not each.when or set(each.when.split()) & words) and not set(each.unless.split()) & words
    ]
    return tuple(fitting) or oracle.styles[:1]


def _holds(binding: Binding) -> bool:
    names = [each.name for each in binding.values() if each.kind != "object" or each.axes is not None]
    if len(names) != len(set(names)):
        return False
    bound = set(names)
    return all(set(each.with_) <= bound and not set(each.without) & bound for each in binding.values())


def _mapped(given: Mapping[str, str], oracle: Oracle, parameters: Sequence[str]) -> dict[str, tuple[Quantity, ...]]:
    mapped: dict[str, tuple[Quantity, ...]] = {}
    for ours, theirs in given.items():
        if theirs not in parameters and "." not in theirs and ours in parameters:
            ours, theirs = theirs, ours  # the other way round is as clear
        if theirs not in parameters and "." not in theirs:
            raise SignatureError(
                f"--map {ours}={theirs}: it takes no {theirs}; its arguments are {', '.join(parameters)}"
            )
        exact = tuple(each for each in oracle.quantities if each.name == ours)
        found = exact or tuple(meant(ours, oracle.quantities))
        if not found:
            known = ", ".join(dict.fromkeys(each.name for each in oracle.quantities))
            raise SignatureError(f"--map {ours}={theirs}: {oracle.name} knows no {ours}; it knows {known}")
        mapped[theirs] = found
    return mapped


def _annotated(annotation: Any) -> str | None:
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    if annotation is inspect.Parameter.empty:
        return None
    if text.endswith("Tensor"):
        return "torch"
    if "ndarray" in text or "NDArray" in text or "ArrayLike" in text:
        return "numpy"
    if text.lower().startswith(("list", "sequence", "typing.list", "typing.sequence")):
        return "list"
    return None


def _names_and_numbers(code: Any) -> tuple[list[str], list[float]]:
    names = [*code.co_names, *code.co_freevars]
    numbers = [float(each) for each in code.co_consts if isinstance(each, float)]
    for each in code.co_consts:
        if inspect.iscode(each):
            inner_names, inner_numbers = _names_and_numbers(each)
            names += inner_names
            numbers += inner_numbers
    return list(dict.fromkeys(names)), list(dict.fromkeys(numbers))


def _closure(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return dict(inspect.getclosurevars(function).nonlocals)
    except (TypeError, ValueError):
        return {}


def _name(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__qualname__", type(function).__name__))


def _not_understood(function: Callable[..., Any], unknown: Sequence[str], oracle: Oracle) -> str:
    known = ", ".join(dict.fromkeys(each.name for each in oracle.quantities))
    first = next(iter(forms(unknown[0])), unknown[0])
    return (
        f"{_name(function)}{inspect.signature(function)}: no telling what {', '.join(unknown)} "
        f"{'is' if len(unknown) == 1 else 'are'}. Say so with --map, such as --map reward={first}; {oracle.name} knows "
        f"{known}. Or wrap it: {oracle.example}"
    )
