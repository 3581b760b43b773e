"""Learning rates of a run that were read often enough to say how they went."""

from __future__ import annotations

from collections.abc import Iterator

from rldebug.evidence.run import Run, Series
from rldebug.rule import NotEnough


def long_rates(run: Run, readings: int, updates: int) -> Iterator[tuple[str, Series]]:
    """Of each optimizer, as a message ends with it (empty where there is one). Raises NotEnough without any."""
    seen = False
    for series in run.each("optimizer/lr"):
        rate = series.finite
        if len(rate) < readings or rate.update[-1] - rate.update[0] < updates:
            continue
        seen = True
        optimizer = series.name.partition("@")[2]
        yield f", optimizer {optimizer}" if optimizer else "", rate
    if not seen:
        raise NotEnough(f"fewer than {readings} readings of the learning rate over {updates} updates")
