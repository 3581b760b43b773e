"""@metric: a named pure function from what a training loop hands over to one or more numbers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from rldebug.entry import first_line

Kind = Literal["number", "table", "histogram", "trace"]

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Metric:
    """A function and what it needs: it runs on evidence of type `reads` that has every field in `needs`.

    `compute` returns, by `kind`, or None when this evidence says nothing:
    "number": one value per name (a 0-d tensor or a float) · "table": row names and a (rows, columns) tensor ·
    "histogram": low, high and the counts · "trace": a vector in time.
    A metric may not wait for the device: no `.item()`, no `bool(tensor)`, no data-dependent shapes.
    """

    names: tuple[str, ...]
    kind: Kind
    unit: str
    reads: type
    needs: tuple[str, ...]
    healthy: str
    detail: bool
    compute: Callable[..., Any]

    @property
    def name(self) -> str:
        return self.names[0]

    def page(self) -> str:
        return inspect.cleandoc(self.compute.__doc__ or "")

    def summary(self) -> str:
        return first_line(self.page())

    def how_to_enable(self) -> str:
        """What the user would have to hand over for this metric to be recorded."""
        call = getattr(self.reads, "handed_over_by", "")
        if not call:
            return f"`{self.name}` was not recorded"
        fields = " and ".join(f"{need}=" for need in self.needs)
        return f"pass {fields} to {call}" if fields else f"use {call}"


def metric(
    *names: str,
    unit: str,
    reads: type,
    needs: Sequence[str] = (),
    healthy: str = "",
    kind: Kind = "number",
    detail: bool = False,
) -> Callable[[F], F]:
    """Declare a metric. `detail` metrics are sampled (1 in 64 updates): they cost a pass over rows or layers."""

    def declare(function: F) -> F:
        declared = Metric(names, kind, unit, reads, tuple(needs), healthy, detail or kind != "number", function)
        function.metric = declared  # type: ignore[attr-defined]
        return function

    return declare
