"""Oracle: what a component should compute, what its arguments are called, and which mistakes are known.

A component file gives
- `reference(case)`: slow and obvious;
- `variant(case, **knobs)`: the same, with every known mistake as a switch, so that two mistakes can be combined;
- quantities: what a function may ask for, and under which names; outputs: what it may give back;
- cases from the smallest up, and how Hypothesis draws more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.verification import Verification

Array = NDArray[Any]
Values = Mapping[str, Any]  # outputs by name: arrays along canonical axes, or None where there is no gradient
Kind = Literal["float", "flag", "int", "object"]


@dataclass(frozen=True)
class Case:
    """Inputs in canonical form: float64 arrays, time first, batch second; flags are bool; scalars are numbers."""

    name: str
    given: Mapping[str, Any]
    needs: frozenset[str] = frozenset()  # quantities that a function must take for this case to be fair to it
    edge: bool = False  # one step, one row: a wrong shape or an exception here is worth a note only

    def __getitem__(self, name: str) -> Any:
        return self.given[name]

    def but(self, **changed: Any) -> Case:
        return replace(self, given={**self.given, **changed})


@dataclass(frozen=True)
class Quantity:
    """Something a function may ask for.

    axes: letters of the array's axes: T steps, U steps and one more, B environments, N rows, A actions, D others.
          Layouts rearrange T, U, B and N; "" is a number. None is an object that is handed over as it is.
    of:   from the case to the array; the field of this name unless given.
    """

    name: str
    names: str  # what it is called in the common codebases; see names.py for what is stripped
    axes: str | None = ""
    kind: Kind = "float"
    of: Callable[[Case], Any] | None = None
    with_: tuple[str, ...] = ()  # only where all of these are bound too: done-before needs the flag after the last step
    reserve: bool = False  # only where no other reading of the name lets the function run: T+1 values where T do not do
    without: tuple[str, ...] = ()  # only where none of these is bound
    meaning: str = ""  # what is printed beside the argument: "whether the step ended an episode"

    def take(self, case: Case) -> Any:
        return case[self.name] if self.of is None else self.of(case)


@dataclass(frozen=True)
class Output:
    """Something a function may give back; its name is a key of what `variant` returns."""

    name: str
    names: str
    axes: str = ""
    when: str = ""  # words: alone, it is read as this only where one is in what the function or its result is called


@dataclass(frozen=True)
class Style:
    """A rightful variation: ÷N or ÷(N−1), a mean or a sum. It is reported, and is no mistake.

    `when`, `unless`: words; the style is tried only where one, or none, of them is in what the function or its result
    is called. An `objective` is to be maximised and has no minus; a `loss` without it is a mistake.
    """

    name: str
    knobs: Mapping[str, Any] = field(default_factory=dict)
    when: str = ""
    unless: str = ""


@dataclass(frozen=True)
class Mistake:
    """A known-wrong variant: `variant(case, **knobs)` computes just what a function with this mistake computes."""

    code: str
    name: str
    summary: str  # what is wrong, in one line of at most 72 characters, a sentence with its full stop
    knobs: Mapping[str, Any] | tuple[Mapping[str, Any], ...]  # several: ways to write the same mistake
    wrong: str  # the line as it is written when it is wrong, and right, in plain Python
    right: str
    harm: str  # what it does to training, in a sentence or two
    fix: str  # one thing to do
    fine: str = "Never."
    seen_in: str = ""  # a public thread or commit

    @property
    def ways(self) -> tuple[Mapping[str, Any], ...]:
        return self.knobs if isinstance(self.knobs, tuple) else (self.knobs,)


@dataclass(frozen=True)
class Oracle:
    name: str
    code: str  # of `<name>-mismatch`, for what no known mistake explains
    summary: str
    formula: str  # one line, as it is printed above a table
    quantities: tuple[Quantity, ...] = ()  # empty, as the next four are, where `examine` does it all
    outputs: tuple[Output, ...] = ()
    reference: Callable[[Case], Values] = lambda case: {}
    variant: Callable[..., Values] = lambda case, **knobs: {}
    cases: Callable[[], Sequence[Case]] = list
    drawn: Callable[[Callable[[Any], Any]], Case] | None = None  # with Hypothesis' draw
    mistakes: tuple[Mistake, ...] = ()
    styles: tuple[Style, ...] = (Style("usual"),)
    required: tuple[str, ...] = ()  # quantities without which a signature is not understood; "a|b": one of them
    fair: Callable[[Case, frozenset[str]], bool] | None = None  # else: case.needs are all bound
    told: Callable[[Case, frozenset[str]], Case] | None = None  # the case as a function that takes these sees it
    remarks: Callable[[frozenset[str]], Sequence[str]] | None = None  # what the signature alone tells
    observe: Callable[[Mapping[str, Any], Any], Values | None] | None = (
        None  # outputs of one that changes its arguments
    )
    gradients: tuple[str, ...] = ()  # quantities whose gradient of the first output is compared, as "grad:<name>"
    columns: tuple[str, ...] = ()  # case fields in the printed table, in their order
    aliases: str = ""  # other names for `rldebug verify`
    references: str = ""  # papers
    example: str = ""  # a signature that is understood as it is
    tolerance: float = 2e-4
    adapt: Callable[[Any], Callable[..., Any] | None] | None = None  # from a class or object to a function, or None
    examine: Callable[[Any, Mapping[str, str]], Verification] | None = None  # in place of all this, for objects
    rebuild: Callable[[Mapping[str, Any]], Case] | None = None  # from quantities to a case, to stand in for a function
    layouts: tuple[str, ...] = ()  # else those of its axes

    def is_fair(self, case: Case, bound: frozenset[str]) -> bool:
        return case.needs <= bound if self.fair is None else self.fair(case, bound)

    def quantity(self, name: str) -> Quantity | None:
        return next((each for each in self.quantities if each.name == name), None)


def floats(values: Any) -> Array:
    return np.asarray(values, dtype=np.float64)


def flags(values: Any) -> Array:
    return np.asarray(values, dtype=bool)
