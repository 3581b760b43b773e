"""All rows of a batch are one and the same observation."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.batches import Call, calls_of, learning, recurrent
from rldebug.forensics.roles import roles_of
from rldebug.forensics.worlds import training_streams
from rldebug.rule import NotEnough, Rule

_PRINT = 4  # of the statistics of an observation, its fingerprint


@dataclass(frozen=True, kw_only=True)
class RowsOverwritten(Rule):
    """All rows of a batch are one and the same observation.

    ## What it checks
    Batches that a network learns from, and those its targets are made of, hold as many different rows as there are
    environments, again and again, while inputs of the same form that are acted on differ from step to step.

    ## Why it matters
    The buffer remembers the newest observation only, once for each step. Whatever is learned is learned about that one.

    ## Likely causes
    1. The environment, or a wrapper, returns the same array every time and writes the new observation into it; the
       buffer keeps a reference. Confirm: `obs is next_obs` after a step.
    2. One array is filled and appended to a list in a loop. Confirm: `buffer[0] is buffer[1]`.

    ## What to try first
    Store `obs.copy()` (`obs.clone()` for tensors).

    ## When it is fine
    Environments with one observation only, such as bandits; they are not counted. Rows that stand in for observations
    there are none of, and one observation that is asked about many times in order to act on it.

    ## References
    Seen in the wild: BUF-01 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "BUF306"
    name: ClassVar[str] = "rows-overwritten"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "rows"

    size: int = 16  # rows for each environment that a batch must have
    many: int = 4  # environments, from which on half as many rows for each will do
    more: int = 3  # different observations that are acted on in an audit, for each row of a batch that may be different
    batches: int = 3  # of one line of code, over at least two audits

    def check(self, evidence: Script) -> Iterator[Finding]:
        stream = roles_of(evidence).stream
        if stream is None or stream >= len(evidence.streams):
            return
        # A list of environments is stepped one by one: together they are the lanes.
        beside = _beside(evidence, stream)
        lanes = sum(beside.values())
        size = lanes * (self.size if lanes < self.many else self.size // 2)
        thin, judged = 0, False
        last: dict[tuple[int, int | None], int] = {}  # call that is learned from, by audit and steps before it
        for call in learning(evidence):
            last[call.audit.number, call.at] = call.order + 1
        for rows_of in (_numbers, _ranges, _shown):  # pictures are compared with pictures
            acted: dict[int, dict[int, list[bytes]]] = {}  # by form: a part of the observation may hardly ever change
            for call in _acting(evidence, beside):
                for each in rows_of(call):
                    acted.setdefault(len(each), {}).setdefault(call.audit.number, []).append(each)
            by_audit: set[tuple[int, int]] = set()
            for form, audits in acted.items():
                seen = [each for rows in audits.values() for each in rows]
                thin = max(thin, len(set(seen)))
                # Pictures come up again and again: those that are acted on in an audit are counted by themselves.
                enough = len(set(seen)) >= max(self.size, len(seen) // 4)
                for number, rows in audits.items():
                    alone = rows_of is _shown and len(set(rows)) >= max(self.size, self.more * lanes)
                    if enough or alone:
                        by_audit.add((number, form))
            if not by_audit:
                continue
            judged = True
            groups: dict[tuple[str, str], list[tuple[Call, set[bytes]]]] = {}
            for call in calls_of(evidence):
                rows = rows_of(call)
                if call.event.get("acting") or len(rows) < size or call.event["match"] == "tag":
                    continue
                if (call.audit.number, len(rows[0])) not in by_audit or recurrent(evidence, call.module):
                    continue
                # One observation, asked about many times to act on it, as under dropout: a step follows, and no loss.
                if call.order < last.get((call.audit.number, call.at), -1):
                    groups.setdefault((call.module, str(call.event.get("line"))), []).append((call, set(rows)))
            met = {each for audits in acted.values() for rows in audits.values() for each in rows}
            found = list(self._judged(groups, lanes, met))
            if found:
                yield found[0]
                return
        if not judged:
            raise NotEnough(f"{thin} different observations were acted on")

    def _judged(
        self, groups: Mapping[tuple[str, str], list[tuple[Call, set[bytes]]]], lanes: int, met: set[bytes]
    ) -> Iterator[Finding]:
        for (module, _), calls in groups.items():
            if len(calls) < self.batches or len({call.audit.number for call, _ in calls}) < 2:
                continue
            # What stands in for an observation that there is none of, such as zeros, was never met, or never changes.
            real = sum(bool(call.known.any()) or not met.isdisjoint(rows) for call, rows in calls)
            if 2 * real < len(calls) or len(set().union(*(rows for _, rows in calls))) <= lanes:
                continue
            if all(len(rows) <= lanes for _, rows in calls):
                first = calls[0][0]
                yield self.finding(
                    "the rows of a batch are all the same observation",
                    where=first.event.where,
                    seen=f"{max(len(rows) for _, rows in calls)} different rows in batches of "
                    f"{len(first.rows)} given to "
                    f"{module}, in {len(calls)} batches",
                    expected="as many different observations as were stored",
                    help="store a copy of the observation: the array it is in is written to again",
                    confidence=0.96,
                )
                return


def _beside(script: Script, stream: int) -> dict[int, int]:
    """Lanes of the environments that are stepped by turns with the one that is learned from, itself among them."""
    phases = int(script.counts.get("phases") or 0)
    found = {
        int(each["index"]): int(each["lanes"])
        for each in training_streams(script)
        if 2 * int(each.get("phases") or 0) > phases > 0
    }
    found.setdefault(stream, int(script.streams[stream]["lanes"]))
    return found


def _acting(script: Script, streams: Collection[int]) -> Iterator[Call]:
    for call in calls_of(script):
        places = call.places[call.known]
        if call.event["match"] == "tag" or not call.event.get("acting"):
            continue  # what a network computed of an observation is none
        if len(places) and int(call.audit.nodes.stream[places[0]]) in streams:
            yield call


def _numbers(call: Call) -> list[bytes]:
    """Narrow rows by the numbers in them, in all that the network is given."""
    arrays = [each for each in (call.input, *call.more) if each is not None and len(each) == len(call.rows)]
    return [] if call.input is None or not arrays else [each.tobytes() for each in np.concatenate(arrays, axis=1)]


def _ranges(call: Call) -> list[bytes]:
    """Wide rows by range, mean and spread of each."""
    array = call.stats if call.input is None else None
    return [] if array is None or len(array) != len(call.rows) else [each.tobytes() for each in array]


def _shown(call: Call) -> list[bytes]:
    """Wide rows by the observations that they are: pictures of a small game have all one range, mean and spread."""
    stats = call.audit.nodes.obs_stats
    if call.input is not None or stats.shape[1] <= _PRINT or not len(call.rows) or not call.known.all():
        return []
    return [each.tobytes() for each in stats[call.places][:, _PRINT]]
