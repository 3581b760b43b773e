"""The parameter tensors of a run over time, from its table `parameters`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.run import Run

COLUMNS = ("grad_norm", "grad_absmax", "zero_rows", "step_norm", "weight_norm", "weight_mean", "weight_std")
"""Of the table. The gradient's columns are NaN where a tensor has no gradient, `zero_rows` where it is a vector."""

_TABLE = "parameters"
_WEIGHTS = slice(4, 7)


@dataclass(frozen=True)
class TensorHistory:
    """One parameter tensor, at every detailed reading of a step of the optimizer that owns it."""

    name: str
    optimizer: str  # empty where there is only one
    update: NDArray[np.int64]
    env_step: NDArray[np.int64]
    cells: NDArray[np.float64]  # (readings, columns)

    def __len__(self) -> int:
        return len(self.update)

    def __getitem__(self, column: str) -> NDArray[np.float64]:
        cells: NDArray[np.float64] = self.cells[:, COLUMNS.index(column)]
        return cells

    @property
    def module(self) -> str:
        """`policy`, `critic`; the optimizer's own name for a parameter of no watched module."""
        return self.name.partition(".")[0].partition("[")[0]

    @property
    def layer(self) -> str:
        return self.name.rpartition(".")[0]

    @property
    def span(self) -> int:
        """Updates from the first reading to the last."""
        return int(self.update[-1] - self.update[0]) if len(self) else 0

    @property
    def still(self) -> bool:
        """The weights are the same at every reading, to the six digits that are recorded."""
        weights = self.cells[:, _WEIGHTS]
        return bool(len(weights) and np.isfinite(weights).all() and (np.ptp(weights, axis=0) == 0).all())

    @property
    def size(self) -> float:
        """Entries, from norm² = entries · (mean² + std²); NaN while all weights are 0."""
        norm, mean, std = self["weight_norm"], self["weight_mean"], self["weight_std"]
        with np.errstate(divide="ignore", invalid="ignore"):
            each = norm**2 / (mean**2 + std**2)
        known = each[np.isfinite(each)]
        return float(np.median(known)) if len(known) else float("nan")

    def last(self, readings: int) -> TensorHistory:
        return TensorHistory(
            self.name, self.optimizer, self.update[-readings:], self.env_step[-readings:], self.cells[-readings:]
        )


def tensor_histories(run: Run) -> list[TensorHistory]:
    """In the order in which the optimizers hold them."""
    rows: dict[tuple[str, str], list[tuple[int, int, tuple[float, ...]]]] = {}
    for reading in run.readings:
        for table, content in reading.tables.items():
            base, _, optimizer = table.partition("@")
            if base != _TABLE:
                continue
            for name, cells in content.items():
                if len(cells) == len(COLUMNS):
                    row = (reading.update, reading.env_step, tuple(cells))
                    rows.setdefault((optimizer, name), []).append(row)
    return [
        TensorHistory(
            name,
            optimizer,
            np.array([each[0] for each in seen], dtype=np.int64),
            np.array([each[1] for each in seen], dtype=np.int64),
            np.array([each[2] for each in seen], dtype=np.float64),
        )
        for (optimizer, name), seen in rows.items()
    ]


def by_module(tensors: Iterable[TensorHistory]) -> dict[tuple[str, str], list[TensorHistory]]:
    """Grouped by optimizer and watched module; parameters of no watched module are left out."""
    groups: dict[tuple[str, str], list[TensorHistory]] = {}
    for each in tensors:
        if "." in each.name:
            groups.setdefault((each.optimizer, each.module), []).append(each)
    return groups


def listed(names: Iterable[str], most: int = 3) -> str:
    """`a, b, c and 5 more`."""
    known = list(names)
    more = len(known) - most
    return ", ".join(known[:most]) + (f" and {more} more" if more > 0 else "")
