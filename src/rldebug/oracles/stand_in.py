"""An oracle in place of a user's function: takes what the function takes, and gives back what it should have.

The function itself is called too, on copies: its answer tells the containers, dtypes and devices to answer in, and
whether the two differ. Where it draws random numbers, the same are drawn, so the rest of the program is left as it was.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import inspect
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import Any, Literal

import numpy as np
import torch

from rldebug.oracles.bag import Bag
from rldebug.oracles.bind import UNIVERSAL, loose_numbers
from rldebug.oracles.call import Raised, in_words
from rldebug.oracles.compare import Fit, close
from rldebug.oracles.in_program import Misfit, agree, canonical, copied, laid_back, like, overwritten, shape_of
from rldebug.oracles.layout import Unreadable, unpack
from rldebug.oracles.oracle import Array, Oracle, Output, Style
from rldebug.oracles.plan import Plan, StandInError, cases_for, differing, filled, plan_of
from rldebug.oracles.search import ask, sized

Compared = Literal["same", "different", "raised"]  # the function's own answer, beside that of the oracle


def stand_in(
    function: Callable[..., Any],
    oracle: Oracle,
    fit: Fit | Plan,
    compared: Callable[[Compared], Any] | None = None,
) -> Callable[..., Any]:
    """What to call instead of the function. `fit`: as `judge` found it, right or wrong.

    `compared` is told, for every call, how the function's own answer was. Raises StandInError where the oracle has no
    way back from arguments to a case; and so does the call, where the program hands over what the cases did not.
    """
    plan = fit if isinstance(fit, Plan) else plan_of(fit, oracle)
    why = _cannot(oracle)
    if why is not None:
        raise StandInError(why)
    made = _StandIn(function, oracle, plan, compared or (lambda _: None))

    @functools.wraps(function)
    def replaced(*given: Any, **named: Any) -> Any:
        return made.answer(given, named)

    return replaced


def check(function: Callable[..., Any], oracle: Oracle, fit: Fit) -> None:
    """Put the stand-in itself beside the reference, on every case. Raises StandInError where it is not the same."""
    made = stand_in(function, oracle, fit)
    for case in cases_for(oracle, fit.convention):
        answer = ask(fit.convention, oracle, case, function=made)
        if case.edge:
            continue
        if isinstance(answer, Raised):
            raise StandInError(f"on {case.name}, what should replace it raises {answer.said}")
        right = oracle.variant(case, **fit.style.knobs)
        name = differing(answer, right, fit, oracle, case, fit.convention.layout)
        if name is not None:
            raise StandInError(
                f"what its arguments tell is not enough: {name} of {case.name} cannot be computed from them"
            )
        first = next((place for place, each in enumerate(fit.reading) if each is oracle.outputs[0]), -1)
        for name, slope in answer.gradients.get(first, {}).items():
            steep = right.get(f"grad:{name}")
            sums = [0.0 if each is None else float(np.sum(each)) for each in (slope, steep)]
            if abs(sums[0] - sums[1]) > 1e-3 * max(1.0, abs(sums[1])):
                raise StandInError(f"the gradient for {name} of {case.name} is not the reference's")


def _cannot(oracle: Oracle) -> str | None:
    if oracle.examine is not None:
        return f"{oracle.name} is an object, and only a function can be replaced"
    return None


class _StandIn:
    """Answers calls of a function."""

    def __init__(
        self, function: Callable[..., Any], oracle: Oracle, plan: Plan, compared: Callable[[Compared], Any]
    ) -> None:
        self.function, self.oracle, self.plan, self.compared = function, oracle, plan, compared
        self.layout = plan.layout
        self.smallest = sized(next(iter(oracle.cases())), oracle)
        self.signature = inspect.signature(function)
        known = [*oracle.quantities, *UNIVERSAL]
        self.binding = {name: known[place] for name, place in plan.binding.items()}
        self.bound = frozenset(each.name for each in self.binding.values())
        self.style = next((each for each in oracle.styles if each.name == plan.style), Style("usual"))
        self.reading = [next((o for o in oracle.outputs if o.name == name), None) for name in plan.reading]

    def answer(self, given: Sequence[Any], named: Mapping[str, Any]) -> Any:
        called = self.signature.bind(*given, **named)
        called.apply_defaults()
        try:
            raw = self._handed_over(called.arguments)
            self.layout = self._layout(raw)
            right = self._right(raw)
        except Misfit as error:
            raise StandInError(f"{self._name()} was called with {error}") from None
        except Exception as error:
            raise StandInError(
                f"no case could be made of the arguments of {self._name()}: {in_words(error)}"
            ) from error
        held = {name: copied(value) for name, value in raw.items() if "." in name}
        for name in raw.keys() & called.arguments.keys():
            called.arguments[name] = copied(raw[name])
        try:
            theirs = self.function(*called.args, **called.kwargs)
        except Exception:
            self.compared("raised")
            return self._without_template(right, raw, called.arguments)
        self._restore(held, called.arguments)
        elements = self._elements(theirs, called.arguments)
        ours = [self._answer(place, each, right, raw) for place, each in enumerate(elements)]
        self._compare(elements, ours)
        return self._in_place_of(theirs, elements, ours, called.arguments, given, named)

    # ── arguments ──

    def _handed_over(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """What is bound to a quantity, by argument; what was left out or is None is not there."""
        raw = {}
        for name in self.binding:
            bag, dot, key = name.partition(".")
            value = _reach(arguments[bag], key, self.plan.bags.get(bag, ())) if dot else arguments.get(name)
            if value is not None:
                raw[name] = value
        return raw

    def _layout(self, raw: Mapping[str, Any]) -> str:
        """The one among those it works in that arrays of so many axes have."""
        ranks = {1: ("(T,)",), 2: ("(T, B)", "(B, T)"), 3: ("(T, B, 1)", "(B, T, 1)")}
        rank = next((len(shape_of(raw[name])) for name in raw if self.binding[name].axes in ("TB", "UB")), 0)
        fitting = [each for each in self.plan.layouts if each in ranks.get(min(rank, 3), ())]
        return fitting[0] if fitting else self.plan.layout

    def _right(self, raw: Mapping[str, Any]) -> Mapping[str, Any]:
        arranged: dict[str, tuple[Any, str]] = {}
        objects: dict[str, Any] = {}
        for name, value in raw.items():
            quantity = self.binding[name]
            if quantity in UNIVERSAL:
                continue
            if quantity.axes is None:
                objects[quantity.name] = value
                continue
            try:
                arranged[quantity.name] = (
                    canonical(value, quantity.axes, quantity.kind, self.layout), quantity.axes
                )  # fmt: skip
            except Misfit as error:
                raise Misfit(f"{name} of {error}") from None
        fitted, sizes = agree(arranged)
        lengths = {"T": 1, "B": 1, "N": 1, **sizes}
        told = {**fitted, **objects}
        rebuilt = told if self.oracle.rebuild is None else self.oracle.rebuild(told).given
        case = filled(rebuilt, self.oracle, lengths, self.smallest).but(sizes=lengths, **self._own_numbers())
        if self.oracle.told is not None:
            case = self.oracle.told(case, self.bound)
        return self.oracle.variant(case, **self.style.knobs)

    def _own_numbers(self) -> Mapping[str, float]:
        """Those the function has now: a global γ may be another than the one it was verified with."""
        now = loose_numbers(self.function, self.oracle, self.bound) if self.plan.fixed else []
        if 0 <= self.plan.choice < len(now) and now[self.plan.choice].keys() == self.plan.fixed.keys():
            return now[self.plan.choice]
        return self.plan.fixed

    def _restore(self, held: Mapping[str, Any], arguments: Mapping[str, Any]) -> None:
        """What it wrote into arrays that it should only have read; what it was to fill is not among them."""
        for name, before in held.items():
            bag, _, key = name.partition(".")
            now = _reach(arguments[bag], key, self.plan.bags.get(bag, ()))
            if now is not None and not isinstance(now, (int, float)) and not _equal(now, before):
                overwritten(now, before)

    # ── what is given back ──

    def _elements(self, theirs: Any, arguments: Mapping[str, Any]) -> list[Any]:
        """As `search` reads an answer."""
        if self.plan.silent:
            return [self._written(name, arguments) for name in self.plan.names]
        if isinstance(theirs, Mapping):
            return [theirs.get(name) for name in self.plan.names]
        if isinstance(theirs, tuple) and hasattr(theirs, "_fields"):
            return [getattr(theirs, name) for name in theirs._fields]
        if dataclasses.is_dataclass(theirs) and not isinstance(theirs, type):
            return [getattr(theirs, each.name) for each in dataclasses.fields(theirs)]
        if isinstance(theirs, tuple):
            return [each for each in theirs if each is not None]
        return [theirs]

    def _written(self, name: str | None, arguments: Mapping[str, Any]) -> Any:
        for bag in self.plan.bags:
            found = _reach(arguments[bag], name or "", ())
            if found is not None:
                return found
        return None

    def _answer(self, place: int, template: Any, right: Mapping[str, Any], raw: Mapping[str, Any]) -> Any:
        output = self.reading[place] if place < len(self.reading) else None
        if output is None or right.get(output.name) is None:
            return template
        array = np.asarray(right[output.name], dtype=np.float64)
        axes = output.axes if array.ndim == len(output.axes) else ""
        laid = laid_back(array, axes, shape_of(template), self.layout)
        if laid is None:
            laid = self._shaped_as_arguments(array, output, raw)
        made = like(laid, template)
        if isinstance(made, torch.Tensor) and output is self.oracle.outputs[0] and self.oracle.gradients:
            return self._with_gradient(made, right, raw)
        needed = isinstance(template, torch.Tensor) and template.requires_grad
        if needed and "T" not in output.axes:  # what a rollout is worth is data, and carries none
            raise StandInError(
                f"{self._name()} gives a gradient through its {output.name}, and the reference of {self.oracle.name} "
                "has numbers only"
            )
        return made

    def _shaped_as_arguments(self, array: Array, output: Output, raw: Mapping[str, Any]) -> Array:
        for name, value in raw.items():
            if self.binding[name].axes == output.axes:
                laid = laid_back(array, output.axes, shape_of(value), self.layout)
                if laid is not None:
                    return laid
        return array

    def _with_gradient(self, value: torch.Tensor, right: Mapping[str, Any], raw: Mapping[str, Any]) -> torch.Tensor:
        """The value, with the reference's slopes: x − x is nothing, and its gradient is 1."""
        for name, given in raw.items():
            quantity = self.binding[name]
            slope = right.get(f"grad:{quantity.name}")
            if isinstance(given, (list, tuple)) and given and all(isinstance(each, torch.Tensor) for each in given):
                given = torch.stack(list(given))
            if slope is None or not isinstance(given, torch.Tensor) or not given.requires_grad:
                continue
            laid = laid_back(np.asarray(slope, dtype=np.float64), quantity.axes or "", given.shape, self.layout)
            if laid is None:
                raise StandInError(
                    f"the gradient for {name} has shape {np.shape(slope)}, expected {tuple(given.shape)}"
                )
            nothing = torch.where(torch.isfinite(given), given - given.detach(), torch.zeros_like(given))
            part = nothing * torch.as_tensor(laid, dtype=given.dtype, device=given.device)
            if value.numel() == 1:
                value = value + part.sum().to(value.dtype)
            elif part.shape == value.shape:
                value = value + part
            else:
                value = value + part.reshape(*value.shape, -1).sum(-1)
        return value

    def _compare(self, theirs: Sequence[Any], ours: Sequence[Any]) -> None:
        for one, other, output in zip(theirs, ours, self.reading, strict=False):
            if output is None or one is other:
                continue
            first, second = unpack(one), unpack(other)
            if isinstance(first, Unreadable) or isinstance(second, Unreadable):
                continue
            if not close(np.asarray(first, dtype=np.float64), second, self.oracle.tolerance):
                self.compared("different")
                return
        self.compared("same")

    def _in_place_of(
        self,
        theirs: Any,
        elements: Sequence[Any],
        ours: Sequence[Any],
        arguments: Mapping[str, Any],
        given: Sequence[Any],
        named: Mapping[str, Any],
    ) -> Any:
        if self.plan.silent:
            for name, held, value in zip(self.plan.names, elements, ours, strict=True):
                if value is not held and not overwritten(held, value):
                    self._write(name or "", value, arguments)
            return theirs
        if isinstance(theirs, MutableMapping):
            passed = any(theirs is each for each in (*given, *named.values()))
            whole = theirs if passed else copy.copy(theirs)
            for name, held, value in zip(self.plan.names, elements, ours, strict=True):
                if value is not held:
                    whole[name] = value
            return whole
        if isinstance(theirs, tuple) and hasattr(theirs, "_fields"):
            return type(theirs)(*ours)
        if dataclasses.is_dataclass(theirs) and not isinstance(theirs, type):
            names = [each.name for each in dataclasses.fields(theirs)]
            return dataclasses.replace(theirs, **dict(zip(names, ours, strict=True)))
        if isinstance(theirs, tuple):
            rest = iter(ours)
            return tuple(None if each is None else next(rest) for each in theirs)
        return ours[0]

    def _write(self, name: str, value: Any, arguments: Mapping[str, Any]) -> None:
        for bag in self.plan.bags:
            holder = arguments[bag]
            if isinstance(holder, Bag) or not isinstance(holder, MutableMapping):
                setattr(holder, name, value)
            else:
                holder[name] = value
            return

    def _without_template(self, right: Mapping[str, Any], raw: Mapping[str, Any], arguments: Mapping[str, Any]) -> Any:
        """The function raised: answer as it would, by what is known of it."""
        sample = next(
            (each for name, each in raw.items() if self.binding[name].axes and self.binding[name].kind == "float"), 0.0
        )
        made = []
        for output in self.reading:
            if output is None or right.get(output.name) is None:
                raise StandInError(f"{self._name()} raised, and nobody knows all that it would have given back")
            array = np.asarray(right[output.name], dtype=np.float64)
            value = like(self._shaped_as_arguments(array, output, raw), sample)
            slopes = isinstance(value, torch.Tensor) and output is self.oracle.outputs[0]
            made.append(self._with_gradient(value, right, raw) if slopes else value)
        if self.plan.silent:
            for name, value in zip(self.plan.names, made, strict=True):
                held = self._written(name, arguments)
                if held is None or not overwritten(held, value):
                    self._write(name or "", value, arguments)
            return None
        if all(self.plan.names):
            return dict(zip(self.plan.names, made, strict=True))
        return made[0] if len(made) == 1 else tuple(made)

    def _name(self) -> str:
        return str(getattr(self.function, "__qualname__", "it"))


def _equal(one: Any, other: Any) -> bool:
    first, second = unpack(one), unpack(other)
    if isinstance(first, Unreadable) or isinstance(second, Unreadable):
        return True
    return np.array_equal(first, second, equal_nan=first.dtype.kind == "f" and second.dtype.kind == "f")


def _reach(holder: Any, key: str, unpacked: Sequence[str]) -> Any:
    """`self.rewards`, `batch["rewards"]`, or the third of what a batch is unpacked into; None where there is none."""
    if key in unpacked and not isinstance(holder, Bag):
        items = list(holder)
        return items[unpacked.index(key)] if len(items) == len(unpacked) else None
    if isinstance(holder, Mapping):
        return holder.get(key)
    found = getattr(holder, key, None)
    if found is None and hasattr(holder, "__getitem__") and not isinstance(holder, (list, tuple, Bag)):
        try:
            return holder[key]
        except (KeyError, TypeError, IndexError):
            return None
    return found
