"""Memory grows without levelling out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run, Series
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule

_MEGABYTE = 2.0**20


@dataclass(frozen=True, kw_only=True)
class MemoryGrows(Rule):
    """Memory grows with every update and does not level out.

    ## What it checks
    Memory of the process, and memory that tensors occupy on the GPU: it at least doubles after the start, by hundreds
    of megabytes, in proportion to the updates, and still grows at the end. On the GPU that is a warning. On the host
    it is a note where a replay buffer may still be filling, and otherwise a warning only for a long run that grew by
    gigabytes.

    ## Why it matters
    A long run ends with an out-of-memory error, mostly at night.

    ## Likely causes
    1. Losses or returns are summed without `.detach()` or `.item()`, and each keeps its graph. Confirm: `type()` and
       `.grad_fn` of what is kept between updates.
    2. Lists that are only ever appended to: frames, infos, logs. Confirm: print their lengths.
    3. A replay buffer that fills up. Confirm: it stops once the buffer is full.

    ## What to try first
    Search the loop for `+= loss` and for `.append(` without a matching clear.

    ## When it is fine
    A replay buffer on its way to its capacity: arrays made by `numpy.empty` take up memory as they are written.

    ## References
    PyTorch documentation, *Frequently Asked Questions* (do not accumulate history across your training loop).
    """

    code: ClassVar[str] = "PRF004"
    name: ClassVar[str] = "memory-grows"
    severity: ClassVar[Severity] = "warning"
    needs: ClassVar[tuple[str, ...]] = ("host/resident",)

    growth: float = 2.0  # end over start
    megabytes: float = 256.0  # by which it grew
    straight: float = 0.97  # correlation with the updates
    readings: int = 5  # about one per second
    warm_up: float = 0.1  # share of the run that is left out: libraries load, caches fill
    certain_readings: int = 60  # for a warning about host memory
    certain_megabytes: float = 2048.0  # for a warning about host memory

    def check(self, evidence: Run) -> Iterator[Finding]:
        host = evidence["host/resident"].finite
        if len(host) < self.readings:
            raise NotEnough(f"{len(host)} readings of the memory, needs {self.readings}")
        replay = any(name.startswith("replay/") for name in evidence.series) or np.any(
            evidence["batch/staleness_max"].value != evidence["batch/staleness_mean"].value
        )
        for series, what in ((evidence["gpu/allocated"].finite, "memory on the GPU"), (host, "memory of the process")):
            grown = self._grown(series)
            if grown is None:
                continue
            gpu = series.name.startswith("gpu")
            long = len(host) >= self.certain_readings and grown >= self.certain_megabytes
            severity: Severity = "warning" if gpu or (long and not replay) else "note"
            yield self.finding(
                f"{what} grows without levelling out",
                where=series.where(-1),
                seen=f"{series.between(self.warm_up, 1.0).first / _MEGABYTE:.0f} MB after the start, "
                f"{series.last / _MEGABYTE:.0f} MB at update {series.update[-1]}, in proportion to the updates",
                expected="memory that levels out"
                + (", as it will once the replay buffer is full, if that is what fills" if replay else ""),
                help="look for tensors kept with their graph (+= loss) and for lists that are only appended to",
                confidence=0.8 if severity == "warning" else 0.6,
                severity=severity,
            )
            return

    def _grown(self, series: Series) -> float | None:
        """By how many megabytes, if steadily and to the end."""
        if len(series) < self.readings:
            return None
        late = series.between(self.warm_up, 1.0)
        values, updates = late.value / _MEGABYTE, late.update.astype(np.float64)
        grown = float(values[-1] - values[0])
        if len(late) < self.readings - 1 or grown < self.megabytes or values[-1] < self.growth * values[0]:
            return None
        if np.corrcoef(values, updates)[0, 1] < self.straight:
            return None
        end = late.tail(0.3)
        slope = (end.last - end.first) / _MEGABYTE / max(float(end.update[-1] - end.update[0]), 1.0)
        return grown if slope >= 0.5 * grown / (updates[-1] - updates[0]) else None
