"""@metric: a named pure function from what a training loop hands over to one or more numbers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from rldebug.entry import first_line

Kind = Literal["number", "table", "histogram", "histograms", "trace"]

EACH = "…"  # at the end of a name: what stands there is one of many, of a layer or a parameter

# Fields of what is handed over that no caller fills in: they come from the calls before, or from the watched env.
SEEN = ("age", "since_rollout", "rollout_logp", "action_low", "action_high")

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Metric:
    """A function and what it needs: it runs on evidence of type `reads` that has every field in `needs`.

    `compute` returns, by `kind`, or None when this evidence says nothing:
    "number": one value per name (a 0-d tensor or a float) · "table": row names and a (rows, columns) tensor ·
    "histogram": low, high and the counts · "histograms": what each is of, and a row like that for each; recorded by the
    metric's name with that for its EACH, and more rarely than anything else · "trace": a vector in time.
    A metric may not wait for the device: no `.item()`, no `bool(tensor)`, no data-dependent shapes.
    """

    names: tuple[str, ...]
    kind: Kind
    unit: str
    reads: type
    needs: tuple[str, ...]
    healthy: str
    detail: bool
    code: bool
    compute: Callable[..., Any]

    @property
    def name(self) -> str:
        return self.names[0]

    def covers(self, name: str) -> bool:
        """Whether a reading of this name is one of its own."""
        return name in self.names or (self.name.endswith(EACH) and name.startswith(self.name.removesuffix(EACH)))

    def page(self) -> str:
        return inspect.cleandoc(self.compute.__doc__ or "")

    def summary(self) -> str:
        return first_line(self.page())

    def how_to_enable(self) -> str:
        """What the user would have to hand over for this metric to be recorded."""
        call = str(getattr(self.reads, "handed_over_by", ""))
        if not call:
            return f"`{self.name}` was not recorded"
        if not call.startswith("dbg."):
            return f"use {call}"  # what such a metric needs is no argument but something the hooks see
        fields = " and ".join(f"{need}=" for need in self.needs if need not in SEEN)
        after = ", after dbg.rollout(...)" if {"since_rollout", "rollout_logp"} & set(self.needs) else ""
        return (f"pass {fields} to {call}" if fields else f"use {call}") + after


def metric(
    *names: str,
    unit: str,
    reads: type,
    needs: Sequence[str] = (),
    healthy: str = "",
    kind: Kind = "number",
    detail: bool = False,
    code: bool = False,
) -> Callable[[F], F]:
    """Declare a metric.

    detail   sampled more rarely than the others: it costs a pass over rows or layers
    code     sampled more rarely still once it is known: it tells how the code computes, which does not change
    """

    def declare(function: F) -> F:
        sampled = detail or code or kind != "number"
        declared = Metric(names, kind, unit, reads, tuple(needs), healthy, sampled, code, function)
        function.metric = declared  # type: ignore[attr-defined]
        return function

    return declare
