"""Log: what another library wrote down about a run, under its own names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Column:
    """One tag over time, in the order of its steps. What was logged twice at a step is here twice."""

    step: NDArray[np.int64]
    seconds: NDArray[np.float64]  # since the log began; NaN where it does not say
    value: NDArray[np.float64]

    @staticmethod
    def of(cells: Iterable[tuple[int, float, float]]) -> Column:
        kept = list(cells)
        step = np.array([each[0] for each in kept], dtype=np.int64)
        order = np.argsort(step, kind="stable")
        seconds, value = (np.array([each[at] for each in kept], dtype=np.float64)[order] for at in (1, 2))
        return Column(step[order], seconds, value)

    def __len__(self) -> int:
        return len(self.value)


@dataclass(frozen=True)
class Log:
    """What a log holds, as it says it. Damage is named in `problems` and left out."""

    kind: str  # in words: "a TensorBoard log"
    path: Path
    columns: Mapping[str, Column]
    settings: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    counts_env_steps: bool = False  # what its steps are by custom, where no tag of its own counts them
    thing: str = "tag"  # what its names are called


def named(names: Sequence[str], most: int = 6) -> str:
    """A list for a sentence."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
