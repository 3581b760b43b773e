"""Episodes begin with the last observation of the one before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Audit, Event, Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.node_places import Flags, Ints, places_of
from rldebug.forensics.trained_actions import trained_actions
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ResetObservationDropped(Rule):
    """Episodes begin with the last observation of the one before.

    ## What it checks
    Each row of a loss that has an action is traced back to its observation. Rows that are the final observation of an
    episode, from which no step was taken, are learned from; and first observations of episodes, from which steps were
    taken, are hardly ever among the rows. Observations that occurred more than once are left out. Exact.

    ## Why it matters
    The first action of every episode answers to a state that is gone, and is learned as if it had been taken there.

    ## Likely causes
    1. What `env.reset()` returns is not kept. Confirm: look at the line that resets at the end of an episode.
    2. `obs = next_obs` comes after the reset, and puts the old one back. Confirm: print the observation before the
       first action of an episode.

    ## What to try first
    `obs, _ = env.reset()`, after `obs = next_obs`.

    ## When it is fine
    Never. A wrapper whose reset returns the last observation once more makes both look alike: that is not judged.

    ## References
    Bug kind ENV-06 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "BUF501"
    name: ClassVar[str] = "reset-observation-dropped"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "restarted"
    follows: ClassVar[tuple[str, ...]] = ("BUF300", "BUF302")  # rows that hold the wrong observation throughout

    ends: int = 8  # rows that are the end of an episode
    audits: int = 2  # in which there are such
    starts: float = 0.2  # rows that are the start of one, for each of those: the first episode has a true one

    def check(self, evidence: Script) -> Iterator[Finding]:
        rows = ends = starts = 0
        seen: set[int] = set()
        first: tuple[Audit, Event] | None = None
        beside = {id(each.term) for each in trained_actions(evidence)}  # a critic is given its actions
        for audit, term in evidence.events("term"):
            places = _judged(audit, term, id(term) in beside)
            if not len(places):
                continue
            nodes = audit.nodes
            last = np.isin(nodes.id[places], nodes.nxt[nodes.terminated | nodes.truncated]) & ~nodes.acted[places]
            rows += len(places)
            ends += int(last.sum())
            starts += int((nodes.first[places] & nodes.acted[places]).sum())
            if last.any():
                seen.add(audit.number)
                first = first or (audit, term)
        if not rows:
            raise NotEnough("no row of a loss with actions could be traced to an observation that occurred once")
        if first is None or ends < self.ends or len(seen) < self.audits or starts > self.starts * ends:
            return
        yield self.finding(
            "episodes begin with the last observation of the one before",
            where=_asked(*first),
            seen=f"{ends} of {rows} rows are final observations, from which no step was taken; {starts} are first ones "
            "of episodes",
            expected="the observation that reset returned, in the first step of each episode",
            help="keep what env.reset() returns, and act on it",
            confidence=0.97,
        )


def _judged(audit: Audit, term: Event, beside: bool) -> Ints:
    """Places of the rows that count: of one observation only, with an action, not masked out."""
    ids = term.arrays.get("rows")
    actions = term.arrays.get("index", term.arrays.get("action"))
    known = beside if actions is None else ids is not None and len(actions) == len(ids)
    if ids is None or not known or term["kind"] not in ("policy", "regression"):
        return np.empty(0, dtype=np.int64)
    places = places_of(audit.nodes, ids)
    if not (places >= 0).any():  # there may be no observation at all to look up
        return np.empty(0, dtype=np.int64)
    keep: Flags = (places >= 0) & (np.where(places >= 0, audit.nodes.alike[places], 1) == 0)
    for name in ("mask", "weight"):
        counted = term.arrays.get(name)
        if counted is not None and counted.size == len(ids):
            keep = keep & (np.ravel(counted) != 0)  # sequences are stored with their end, and it is masked
    return np.asarray(places[keep])


def _asked(audit: Audit, term: Event) -> Where:
    """Where a network was asked about such an observation by itself, to act; else the loss."""
    nodes = audit.nodes
    ends = nodes.nxt[nodes.terminated | nodes.truncated]
    for call in audit.calls:
        rows = call.arrays.get("rows")
        if rows is None or call.get("calls", 1) != len(rows) or call.get("grad") or not call.get("line"):
            continue
        if np.isin(rows, ends[ends >= 0]).any():
            return call.where
    return term.where
