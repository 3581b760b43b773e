"""Healthy bands: in which range a reading lay, over the course of a run, while sound programs of its family learned.

`scripts/healthy_bands.py` makes them, from our reference algorithms and from sound programs by other people, several
environments of each family with several seeds. At ten places of a run, from its first update to its last, a band goes
from the 2.5 % to the 97.5 % quantile of the readings around there, every environment counting alike, and a small margin
beyond. How far a policy is from the one that played depends on how many updates ago that was, more than on the time of
the run: bands of `policy/…` and `advantage/…` are level, around all of these.

Not every reading has one. A band is only for what neither the size of rewards nor that of networks changes:
- by its unit in the catalogue: shares, ratios, correlations, probabilities, nats. Returns, values, losses, norms and
  pace have none; nor have counts of learner steps, which are the program's own choice of epochs;
- and by the data: at least three environments, whose medians lie less than one and a half ranges of a single one apart
  (entropy in nats fails here: it depends on the number of actions); and of an environment that was left out, at least
  90 % of the readings lie in the band of the others.

A reading outside says that this run is unlike those, not that it is wrong: to judge is the business of rules.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True)
class Band:
    share: tuple[float, ...]  # of the run's updates, from 0 to 1
    low: tuple[float, ...]
    high: tuple[float, ...]  # where it is the same as low, every sound run had just this value
    runs: int  # that it was drawn from


def band(family: str | None, name: str) -> Band | None:
    """Of a reading, by its name without `@optimizer`; the family as the report's `program` tells it. None: has none."""
    return _bands().get((family or "", name))


@lru_cache(maxsize=1)
def _bands() -> dict[tuple[str, str], Band]:
    data: dict[str, Any] = json.loads(
        files("rldebug.render").joinpath("healthy_bands.json").read_text(encoding="utf-8")
    )
    share = tuple(data["share"])
    return {
        (family, name): Band(share, tuple(each["low"]), tuple(each["high"]), each["runs"])
        for family, named in data["families"].items()
        for name, each in named.items()
    }
