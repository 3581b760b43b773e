"""A random generator is given the same seed again and again while training goes on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ReseededInLoop(Rule):
    """A generator gets the same seed again and again while training.

    ## What it checks
    One line of the program seeds the global generator of torch, NumPy or Python with the same number time after time,
    with optimizer steps in between, and the state is not put back afterwards. Times at which a new optimizer had
    been made since are left out: several trainings in one program, each with the same seed, are fine.

    ## Why it matters
    The same random numbers come back: the same exploration, the same minibatches, the same noise, in every round. What
    looks like many samples is one.

    ## Likely causes
    1. The line that seeds stands inside the loop, or in a function that the loop calls. Confirm: print in it.
    2. The evaluation seeds the global generator to be repeatable. Confirm: look for `manual_seed` in it.
    3. The environment seeds the global generator in `reset`. Confirm: look there.

    ## What to try first
    Seed once, before the loop. Give the evaluation a generator of its own.

    ## When it is fine
    Inside `torch.random.fork_rng()`, or where the state is put back: nothing is said then. It is a note where many
    updates lie between two times.

    ## References
    gymnasium documentation, *Env.reset*: seed once, right after the environment has been made.
    """

    code: ClassVar[str] = "SEE300"
    name: ClassVar[str] = "reseeded-in-loop"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    times: int = 5  # with the same seed, training in between, nothing put back
    dense: float = 0.25  # times for each phase of acting and learning, from which on it is more than a note

    def check(self, evidence: Script) -> Iterator[Finding]:
        if not evidence.counts.get("updates"):
            raise NotEnough("no optimizer step was seen")
        phases = max(int(evidence.counts.get("phases", 0)), 1)
        for place in evidence.things.get("seeding", {}).values():
            if place["what"] not in ("torch", "numpy", "python") or place["again"] - place["restored"] < self.times:
                continue
            repeated, gap = _repeated(place)
            if repeated < self.times:
                continue
            often = place["again"] / phases >= self.dense or gap <= 1
            line, calls = place.get("line"), place["calls"]
            yield self.finding(
                f"the generator of {place['what']} gets the same seed again and again",
                where=Where(line[0], line[1], update=calls[1]["update"]) if line else Where(),
                seen=f"seeded {place['times']} times, {place['again']} of them with the number of the time before "
                f"({calls[-1]['value']}) after further updates",
                expected="one seed before training begins",
                help="move the line out of the loop; use a generator of its own where numbers must be repeatable",
                confidence=0.9 if often else 0.6,
                severity="warning" if often else "note",
            )


def _repeated(place: Mapping[str, Any]) -> tuple[int, float]:
    """How often, of the calls that are remembered, the same training went on; and how many updates lay between."""
    calls = place["calls"]
    gaps = [
        after["update"] - before["update"]
        for before, after in pairwise(calls)
        if after["value"] == before["value"]
        and after["update"] > before["update"]
        and after["optimizers"] == before["optimizers"]
    ]
    return len(gaps), float(np.median(gaps)) if gaps else 0.0
