"""The first observation of each episode is not scaled, all others are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.capture.columns import learned
from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.batches import Call, ambiguous, calls_of
from rldebug.rule import NotEnough, Rule

Array = NDArray[np.float64]
Pairs = tuple[Call, Array, Array, NDArray[np.int64]]  # observations, what the network was given, where they stand


@dataclass(frozen=True, kw_only=True)
class FirstObservationUnscaled(Rule):
    """The first observation of each episode is not scaled, all others are.

    ## What it checks
    What networks are given, beside the observations that it was made of. Nearly all rows are the observation with each
    element times a factor, plus a shift; those that begin an episode are the observation itself, to the last digit, and
    that is something else.

    ## Why it matters
    The network meets a state that does not exist once in each episode. What it says and learns there is noise, and in
    short episodes that is a large share of the data.

    ## Likely causes
    1. `step()` is followed by the scaling, and the `reset()` between episodes is not. Confirm: print the observation
       that the second episode begins with.
    2. A wrapper changes what `step()` returns and leaves `reset()` alone. Confirm: the same.

    ## What to try first
    One function, or an `ObservationWrapper`, through which both go.

    ## When it is fine
    Never, as far as we know.

    ## References
    Seen in the wild: NRM-01 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "NRM260"
    name: ClassVar[str] = "first-observation-unscaled"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "restarted"
    explains: ClassVar[tuple[str, ...]] = ("NRM303",)

    rows: int = 64  # that were changed
    raw: int = 3  # observations that were not, different ones
    first: float = 0.9  # of these begin an episode
    scaled: float = 0.1  # of those that begin an episode may be changed, or a single one: of the first reset of all
    apart: float = 0.01  # of the greatest number in a column, that the two ways differ by

    def check(self, evidence: Script) -> Iterator[Finding]:
        pairs = [each for call in calls_of(evidence) if (each := _pairs(call)) is not None]
        if not pairs:
            raise NotEnough("no rows of scaled observations were traced")
        width = Counter(each[1].shape[1] for each in pairs).most_common(1)[0][0]
        yield from self._judged([each for each in pairs if each[1].shape[1] == width])

    def _judged(self, pairs: list[Pairs]) -> Iterator[Finding]:
        obs, given = np.concatenate([each[1] for each in pairs]), np.concatenate([each[2] for each in pairs])
        places = np.concatenate([each[3] for each in pairs])
        audit = np.concatenate([np.full(len(each[3]), number) for number, each in enumerate(pairs)])
        if len(obs) < self.rows:
            raise NotEnough(f"{len(obs)} rows of observations were traced, needs {self.rows}")
        some = slice(None, None, -(-len(obs) // 2048))
        change = learned(obs[some], given[some])
        if change is None or change.trivial:
            raise NotEnough("observations are not scaled by fixed numbers")
        made = change.made(obs)
        off = np.abs(made - given[:, change.place]) / change.size
        told = (np.abs(made - obs[:, change.place]) > self.apart * change.size).any(axis=1)
        same = told & (np.abs(given - obs) <= 1e-6 * np.maximum(np.abs(obs), 1e-6)).all(axis=1)
        nodes = [pairs[number][0].audit.nodes for number in audit]
        first = np.array([bool(each.first[place]) for each, place in zip(nodes, places, strict=True)])
        ids = np.array([int(each.id[place]) for each, place in zip(nodes, places, strict=True)])
        stream = np.array([int(each.stream[place]) for each, place in zip(nodes, places, strict=True)])
        mine = np.isin(stream, stream[same])  # an evaluation may begin its episodes rightly
        raw, begun = np.unique(ids[same]), np.unique(ids[first & told & mine])
        if len(raw) < self.raw or first[same].mean() < self.first:
            return
        if len(begun) - len(raw) > max(1, self.scaled * len(begun)):
            return
        at = int(np.flatnonzero(same)[0])
        element = int(change.place[off[at].argmax()])
        factor = float(change.factor[off[at].argmax()])
        yield self.finding(
            "the first observation of each episode is not scaled, all others are",
            where=pairs[audit[at]][0].event.where,
            seen=f"{len(raw)} observations that begin an episode are given as they came: element {element} is "
            f"{given[at, element]:.3g}, elsewhere it is {factor:.3g} times the observation's"
            + (f" plus {change.shift[off[at].argmax()]:.3g}" if change.shift[off[at].argmax()] else ""),
            expected="the same scaling for what reset() and what step() returns",
            help="scale the observation of the reset between episodes, too",
            confidence=0.94,
        )


def _pairs(call: Call) -> Pairs | None:
    """Observations, what the network was given of them, and where they stand."""
    nodes, given = call.audit.nodes, call.input
    wide = nodes.obs.shape[1] if len(nodes) else 0
    if given is None or call.event["match"] == "tag" or not wide or given.shape[1] < wide:
        return None
    places = call.places
    kept = (places >= 0) & ~ambiguous(nodes, places)
    kept &= np.isfinite(nodes.obs[places]).all(axis=1) & np.isfinite(given).all(axis=1)
    if not kept.any():
        return None
    return call, nodes.obs[places[kept]].astype(np.float64), given[kept, :wide], places[kept]
