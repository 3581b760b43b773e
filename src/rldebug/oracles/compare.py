"""What a function gives beside what it should: its answers to all cases, and whether they agree with a variant."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rldebug.oracles.bind import meant_output
from rldebug.oracles.call import Raised
from rldebug.oracles.layout import Unreadable, unlay
from rldebug.oracles.oracle import Array, Case, Oracle, Output, Style
from rldebug.oracles.search import Answer, Convention, Element, Outcome, ask, can, ready, sized, sizes_of

Reading = tuple[Output | None, ...]  # which output each thing that came back is


@dataclass(frozen=True)
class Fit:
    """How the function was called, what came back, and what that was compared with."""

    convention: Convention
    reading: Reading
    style: Style


class Comparison:
    """Calls the function once for each convention and case, and computes each variant once.

    `words`: those in what the function and its result are called.
    """

    def __init__(self, oracle: Oracle, styles: tuple[Style, ...], words: Iterable[str]) -> None:
        self.oracle, self.styles, self.words = oracle, styles, frozenset(words)
        self.cases: list[Case] = [sized(case, oracle) for case in oracle.cases()]
        self.answers: dict[tuple[int, int], Outcome] = {}
        self.expected: dict[Any, Mapping[str, Any]] = {}
        self.kept: list[Any] = []  # all that is looked up by its id: the id of what is gone may be given anew
        self.fair_cases: dict[int, list[Case]] = {}
        self.numbers: dict[str, bool] = {}

    def add(self, case: Case) -> None:
        self.cases.append(case)
        self.fair_cases.clear()

    def judged(self, convention: Convention) -> list[Case]:
        if id(convention) not in self.fair_cases:
            self.kept.append(convention)
            self.fair_cases[id(convention)] = [case for case in self.cases if can(convention, self.oracle, case)]
        return self.fair_cases[id(convention)]

    def probe_case(self, convention: Convention) -> Case | None:
        """The largest: on a small one, shapes that do not belong together may broadcast."""
        fitting = self.judged(convention)
        if not fitting:
            return None
        return max(fitting, key=lambda case: math.prod(sizes_of(case, self.oracle).values()))

    def answer(self, convention: Convention, case: Case) -> Outcome:
        key = (id(convention), id(case))
        if key not in self.answers:
            self.answers[key] = ask(convention, self.oracle, ready(case, self.oracle, convention))
        return self.answers[key]

    def _told(self, convention: Convention) -> frozenset[str]:
        return frozenset() if self.oracle.told is None else convention.bound

    def expect(self, convention: Convention, case: Case, knobs: Mapping[str, Any]) -> Mapping[str, Any]:
        key = (
            id(case),
            tuple(sorted(convention.fixed.items())),
            self._told(convention),
            tuple(sorted((k, str(v)) for k, v in knobs.items())),
        )
        if key not in self.expected:
            made = self.oracle.variant(ready(case, self.oracle, convention), **knobs)
            self.expected[key] = {
                name: None if value is None else np.asarray(value, dtype=np.float64) for name, value in made.items()
            }
        return self.expected[key]

    def all_agree(self, fit: Fit, knobs: Mapping[str, Any]) -> bool:
        judged = self.judged(fit.convention)
        return all(self.agrees(fit, case, knobs) for case in judged) and self._compares(fit, judged, knobs)

    def _compares(self, fit: Fit, judged: Iterable[Case], knobs: Mapping[str, Any]) -> bool:
        """Whether anything was compared at all: a case may leave out an output, and not all cases every one."""
        read = {output.name for output in fit.reading if output is not None}
        knobs = {**fit.style.knobs, **knobs}
        return any(read & self.expect(fit.convention, case, knobs).keys() for case in judged)

    def agrees(self, fit: Fit, case: Case, knobs: Mapping[str, Any]) -> bool:
        outcome = self.answer(fit.convention, case)
        excused = case.edge and any(not each.edge for each in self.judged(fit.convention))
        if isinstance(outcome, Raised):
            return excused
        expected = self.expect(fit.convention, case, {**fit.style.knobs, **knobs})
        sizes = sizes_of(case, self.oracle)
        for output, element in zip(fit.reading, outcome.elements, strict=False):
            if output is None or output.name not in expected:
                continue
            right = expected[output.name]
            got = self._laid_back(element.value, output, right, fit.convention.layout, sizes)
            if got is None:
                if excused and not isinstance(element.value, Unreadable):
                    continue
                return False
            if not close(got, right, self.oracle.tolerance):
                return False
        return self._gradients_agree(outcome, expected, fit, sizes)

    def _gradients_agree(
        self, outcome: Answer, expected: Mapping[str, Any], fit: Fit, sizes: Mapping[str, int]
    ) -> bool:
        place = next((i for i, output in enumerate(fit.reading) if output is self.oracle.outputs[0]), None)
        for name, slope in outcome.gradients.get(place, {}).items() if place is not None else ():
            if f"grad:{name}" not in expected:
                continue
            right = expected[f"grad:{name}"]
            quantity = next(each for each in fit.convention.binding.values() if each.name == name)
            laid = None if slope is None else unlay(slope, quantity.axes or "", fit.convention.layout, sizes)
            nothing = laid is None or not np.any(laid)
            if nothing != (right is None or not np.any(right)):
                return False
            if not nothing and right is not None and laid is not None and not close(laid, right, self.oracle.tolerance):
                return False
        return True

    def _laid_back(
        self, value: Array | Unreadable, output: Output, right: Any, layout: str, sizes: Mapping[str, int]
    ) -> Array | None:
        if isinstance(value, Unreadable) or right is None:
            return None
        axes = output.axes if np.ndim(right) == len(output.axes) else ""
        if np.ndim(right) > len(output.axes):  # a mistake that makes more axes than there should be
            return value if value.shape == np.shape(right) else None
        return unlay(value, axes, layout, sizes)

    def readable(self, convention: Convention, outcome: Outcome) -> bool:
        """Whether one of the things that came back has the shape of an output."""
        case = self.probe_case(convention)
        if isinstance(outcome, Raised) or case is None:
            return False
        sizes = sizes_of(case, self.oracle)
        return any(
            not isinstance(element.value, Unreadable)
            and (
                unlay(element.value, output.axes, convention.layout, sizes) is not None
                or (element.value.size == 1 and self._may_be_a_number(output))
            )
            for element in outcome.elements
            for output in self.oracle.outputs
        )  # fmt: skip

    def readings(self, convention: Convention) -> list[Reading]:
        case = self.probe_case(convention)
        outcome = None if case is None else self.answer(convention, case)
        if not isinstance(outcome, Answer):
            return [tuple(self.oracle.outputs[:1])]
        elements = outcome.elements
        called = [meant_output(each.name or "", self.oracle) for each in elements]
        if any(called):
            return [tuple(called)]
        sizes = sizes_of(case, self.oracle) if case is not None else {}
        outputs, layout = self.oracle.outputs, convention.layout
        usable = [i for i, each in enumerate(elements) if any(self._shaped(o, each, layout, sizes) for o in outputs)]
        if not usable:  # a mistake may have made another shape of any of them
            any_of = itertools.permutations(outputs, min(len(elements), len(outputs)))
            return list(itertools.islice(any_of, 24))
        readings: list[Reading] = []
        for chosen in itertools.permutations(outputs, min(len(usable), len(outputs))):
            for places in itertools.permutations(usable, len(chosen)) if len(usable) > len(outputs) else [usable]:
                if all(self._shaped(o, elements[i], layout, sizes) for o, i in zip(chosen, places, strict=True)):
                    at = dict(zip(places, chosen, strict=True))
                    readings.append(tuple(at.get(i) for i in range(len(elements))))
            if len(readings) > 200:
                break
        # Beside a loss, people give back numbers of their own: the share that was clipped, an approximate KL.
        if len(usable) > 1 and all(is_number(each) for each in elements):
            readings += [tuple(o if i == j else None for j in range(len(elements))) for o in outputs for i in usable]
        alone = [each for each in readings if self._is_called_so(each)]
        return list(dict.fromkeys(alone or readings))

    def _is_called_so(self, reading: Reading) -> bool:
        """Where one thing came back, whether it may be read as that output by what it is called."""
        read = [output for output in reading if output is not None]
        return len(read) > 1 or all(not each.when or bool(set(each.when.split()) & self.words) for each in read)

    def _shaped(self, output: Output, element: Element, layout: str, sizes: Mapping[str, int]) -> bool:
        """Whether what came back has the shape of this output, or is a number, which any may be the mean of."""
        value = element.value
        return not isinstance(value, Unreadable) and (
            (value.size == 1 and self._may_be_a_number(output)) or unlay(value, output.axes, layout, sizes) is not None
        )

    def _may_be_a_number(self, output: Output) -> bool:
        """Whether a style makes one number of this output: the mean of a loss."""
        if output.name not in self.numbers:
            made = [self.oracle.variant(self.cases[-1], **style.knobs) for style in self.styles] if self.cases else []
            self.numbers[output.name] = any(np.ndim(each.get(output.name, 0.0)) == 0 for each in made)
        return self.numbers[output.name]

    def is_random(self, convention: Convention) -> bool:
        case = self.probe_case(convention)
        if case is None:
            return False
        made = ready(case, self.oracle, convention)
        first, second = ask(convention, self.oracle, made), ask(convention, self.oracle, made)
        if isinstance(first, Raised) or isinstance(second, Raised):
            return False
        pairs = zip(first.elements, second.elements, strict=False)
        return any(
            not isinstance(one.value, Unreadable)
            and not isinstance(other.value, Unreadable)
            and not close(one.value, other.value, self.oracle.tolerance)
            for one, other in pairs
        )


def is_number(element: Element) -> bool:
    return isinstance(element.value, Unreadable) or element.value.size == 1


def close(got: Array, right: Any, tolerance: float) -> bool:
    """The same within single precision, NaN where NaN is right."""
    right = np.asarray(right, dtype=np.float64)
    if got.shape != right.shape:
        return False
    if not (np.isfinite(got).all() and np.isfinite(right).all()):
        return bool(np.allclose(got, right, rtol=tolerance, atol=tolerance, equal_nan=True))
    size = np.abs(right)
    least = 0.1 * tolerance * max(1.0, float(size.max(initial=0.0)))
    return bool((np.abs(got - right) <= least + tolerance * size).all())  # four times as fast as allclose
