"""How a function is called, in plain types: what another process needs to put the oracle in its place."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rldebug.oracles.bind import UNIVERSAL, loose_numbers
from rldebug.oracles.call import Raised
from rldebug.oracles.compare import Fit, close
from rldebug.oracles.layout import Unreadable, layouts_of, unlay
from rldebug.oracles.oracle import Case, Mistake, Oracle, Quantity, Values
from rldebug.oracles.search import Answer, Convention, Outcome, ask, can, ready, sized


class StandInError(Exception):
    """The oracle cannot stand in for the function: says why."""


@dataclass(frozen=True)
class Plan:
    """How a function is called, in plain types: what another process needs to stand in for it."""

    binding: Mapping[str, int]  # argument, or `self.rewards` -> place of its quantity in the oracle, then in UNIVERSAL
    layout: str
    container: str
    reading: tuple[str | None, ...]  # which output each thing that came back is
    names: tuple[str | None, ...]  # what those things are called, where they have names
    silent: bool  # it returns nothing: what it writes into `self` or the like is its answer
    style: str
    fixed: Mapping[str, float] = field(default_factory=dict)  # γ and its like, where it brings its own
    choice: int = 0  # which reading of its own numbers that is
    bags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    layouts: tuple[str, ...] = ()  # all in which it computes the same: a program may use another one than the cases

    def to_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Plan:
        listed = {name: tuple(data[name]) for name in ("reading", "names", "layouts")}
        bags = {name: tuple(each) for name, each in data["bags"].items()}
        return Plan(**{**data, **listed, "bags": bags})


def plan_of(fit: Fit, oracle: Oracle, mistakes: Sequence[Mistake] = ()) -> Plan:
    """`mistakes`: those that explain what it computes, where it is wrong."""
    convention = fit.convention
    known = [*oracle.quantities, *UNIVERSAL]
    returned: list[Any] = []

    def spy(*given: Any, **named: Any) -> Any:
        returned.append(convention.signature.function(*given, **named))
        return returned[-1]

    observed: list[Any] = []

    def look(inputs: Mapping[str, Any], returned: Any) -> Values | None:
        observed.append(None if oracle.observe is None else oracle.observe(inputs, returned))
        return observed[-1]  # type: ignore[no-any-return]

    watched = dataclasses.replace(oracle, observe=look)
    answer: Outcome | None = None
    for case in cases_for(oracle, convention):
        answer = ask(convention, watched, case, function=spy)
        if isinstance(answer, Answer):
            break
    if answer is None:
        raise StandInError("no case is fair to a function with these arguments")
    if isinstance(answer, Raised):
        raise StandInError(f"it raises {answer.said} on every case: nobody knows what it would have given back")
    if any(each is not None for each in observed):
        raise StandInError("it is judged by what it does to objects, and only what is given back can be replaced")
    fixed = [tuple(each.items()) for each in loose_numbers(convention.signature.function, oracle, convention.bound)]
    own = tuple(convention.fixed.items())
    return Plan(
        binding={name: _place(each, known) for name, each in convention.binding.items()},
        layout=convention.layout,
        container=convention.container,
        reading=tuple(None if each is None else each.name for each in fit.reading),
        names=tuple(each.name for each in answer.elements),
        silent=not returned or returned[-1] is None,
        style=fit.style.name,
        fixed=dict(convention.fixed),
        choice=fixed.index(own) if own in fixed else -1,
        bags=dict(convention.signature.bags),
        layouts=_layouts(fit, oracle, mistakes),
    )


def _layouts(fit: Fit, oracle: Oracle, mistakes: Sequence[Mistake]) -> tuple[str, ...]:
    every = oracle.layouts or layouts_of("".join(each.axes or "" for each in oracle.quantities))
    knobs = [
        {**fit.style.knobs, **{name: value for way in ways for name, value in way.items()}}
        for ways in itertools.product(*(each.ways for each in mistakes))
    ]
    others = [each for each in every if each != fit.convention.layout]
    fitting = [each for each in others if any(_computes(fit, oracle, each, more) for more in knobs)]
    return (fit.convention.layout, *fitting)


def _computes(fit: Fit, oracle: Oracle, layout: str, knobs: Mapping[str, Any]) -> bool:
    """Whether the function, called in this layout, computes what the oracle does with these knobs."""
    convention = dataclasses.replace(fit.convention, layout=layout)
    cases = [case for case in cases_for(oracle, convention) if not case.edge]
    for case in cases:
        answer = ask(convention, oracle, case)
        if isinstance(answer, Raised) or differing(answer, oracle.variant(case, **knobs), fit, oracle, case, layout):
            return False
    return bool(cases)


def differing(
    answer: Answer, right: Mapping[str, Any], fit: Fit, oracle: Oracle, case: Case, layout: str
) -> str | None:
    """The first output that is not as it should be."""
    for output, element in zip(fit.reading, answer.elements, strict=False):
        if output is None or right.get(output.name) is None:
            continue
        wanted = np.asarray(right[output.name], dtype=np.float64)
        axes = output.axes if wanted.ndim == len(output.axes) else ""
        got = None
        if not isinstance(element.value, Unreadable):
            got = unlay(element.value, axes, layout, case["sizes"])
        if got is None or not close(got, wanted, oracle.tolerance):
            return output.name
    return None


def cases_for(oracle: Oracle, convention: Convention) -> list[Case]:
    """Fair ones, the usual before those at the edge."""
    fair = [each for each in (sized(case, oracle) for case in oracle.cases()) if can(convention, oracle, each)]
    return [ready(each, oracle, convention) for each in sorted(fair, key=lambda each: each.edge)]


def _place(quantity: Quantity, known: Sequence[Quantity]) -> int:
    return next(place for place, each in enumerate(known) if each is quantity)


def filled(given: Mapping[str, Any], oracle: Oracle, sizes: Mapping[str, int], smallest: Case) -> Case:
    """A case of what a function was given, or of what `rebuild` made of that: every quantity is a field of it.

    What is missing is as in the smallest case, where that is a number, or one number throughout; else it is 0. Whether
    that will do, `stand_in.check` tells: on its cases nothing is 0 that should not be.
    """
    usual, small = smallest.given, smallest["sizes"]
    fields = {**given, **_flags(given, usual)}
    axes = {each.name: each.axes for each in oracle.quantities if each.of is None}
    for name, value in usual.items():
        if name in fields or name == "sizes":
            continue
        if np.ndim(value) == 0:
            fields[name] = value
            continue
        array = np.asarray(value)
        constant = array.flat[0] if array.size and (array == array.flat[0]).all() else 0
        fields[name] = np.full(_shape(array.shape, axes.get(name), small, sizes), constant, dtype=array.dtype)
    return Case("from the program", fields)


def _shape(shape: tuple[int, ...], axes: str | None, small: Mapping[str, int], sizes: Mapping[str, int]) -> list[int]:
    """Of an array of the smallest case, in a case of these sizes."""
    if not axes and len(shape) > 1 and shape[:2] == (small["T"], small["B"]):
        axes = "TB"
    elif not axes and shape[:1] in ((small["N"],), (small["B"],)):
        axes = "N" if sizes["N"] > 1 else "B"
    known = [sizes.get(axis, length) for axis, length in zip(axes or "", shape, strict=False)]
    return [*known, *shape[len(known) :]]


def _flags(given: Mapping[str, Any], usual: Mapping[str, Any]) -> dict[str, Any]:
    """The flags of a step, each from the others."""
    done = given.get("done")
    if done is None and "mask" in given and "terminated" in usual:
        done = ~np.asarray(given["mask"], dtype=bool)
    elif done is None and "discount" in given:
        done = np.asarray(given["discount"]) == 0.0
    terminated, truncated = given.get("terminated"), given.get("truncated")
    if terminated is None and done is not None:
        terminated = done if truncated is None else done & ~truncated
    if terminated is None:
        return {}
    if truncated is None:
        truncated = np.zeros_like(terminated) if done is None else done & ~terminated
    found = {"terminated": terminated, "truncated": truncated, "done": terminated | truncated}
    if "discount" in given and "gamma" not in given and np.size(given["discount"]):
        found["gamma"] = float(np.max(given["discount"]))
    return {name: value for name, value in found.items() if name in usual}
