"""Worlds: the environments of a program. Which are trained in, which are only played to see how good the policy is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from rldebug.evidence.script import Script
from rldebug.forensics.batches import Call, calls_of
from rldebug.forensics.roles import roles_of

Stream = Mapping[str, Any]
_LOST = 0.05  # share of rows that may come from somewhere else
_CLEAR = 0.25  # share of rows that must be found at one place only
_MANY = 20  # phases of learning
_TELLING = 64  # rows of losses
_SELDOM = 0.2  # of the phases in which the other is stepped
_AS_MUCH = 0.7  # of the steps in training: an environment that is stepped so often may be trained in, unseen


def learned_from(script: Script) -> frozenset[int]:
    """Environments that rows of a loss came from."""
    return _rows(script)[0]


@lru_cache(maxsize=8)
def _rows(script: Script) -> tuple[frozenset[int], bool]:
    """Environments that rows of a loss came from, and whether there can hardly be others.

    Where places come up again, a row is found at the newest that is equal, which may lie in another environment.
    """
    found: set[int] = set()
    clear = unknown = rows = 0
    for audit, term in script.events("term"):
        ids = term.arrays.get("rows")
        if ids is not None and len(ids):
            places = audit.nodes.index(ids)
            known = places[places >= 0]
            single = known[audit.nodes.alike[known] == 0]
            rows += len(ids)
            unknown += len(ids) - len(known)
            clear += len(single)
            found.update(audit.nodes.stream[single].tolist())
    main = roles_of(script).stream
    if rows > unknown and main is not None:
        found.add(main)
    return frozenset(int(each) for each in found), unknown <= _LOST * rows and clear > _CLEAR * rows


@lru_cache(maxsize=8)
def learns_online(script: Script) -> bool:
    """Whether steps are learned from that a network has chosen, or that were taken after the first update. Where a
    fixed record is learned from, all that is played later is a test, be it in the very environment of the record."""
    rows = later = 0
    for audit in script.audits:
        chosen = [call.arrays["rows"] for call in audit.acting if "rows" in call.arrays]
        acted = np.unique(np.concatenate(chosen)) if chosen else np.empty(0, dtype=np.int64)
        for term in audit.of("term"):
            ids = term.arrays.get("rows")
            if ids is None or not len(ids):
                continue
            places = audit.nodes.index(ids)
            known = places[places >= 0]
            rows += len(known)
            later += int(((audit.nodes.update[known] > 0) | np.isin(audit.nodes.id[known], acted)).sum())
    if rows >= _TELLING:
        return later > 0
    main = roles_of(script).stream
    phases = [int(each.get("phases") or 0) for each in script.streams if int(each["index"]) == main]
    return not phases or phases[0] >= _MANY


def training_streams(script: Script) -> list[Stream]:
    """The environment that is learned from, with those beside it: a list of environments is stepped in turn."""
    stream = roles_of(script).stream
    main = next((each for each in script.streams if int(each["index"]) == stream), None)
    if main is None:
        return []
    learned, sure = _rows(script)
    return [
        each
        for each in script.streams
        if each is main
        or int(each["index"]) in learned
        or (not sure and each.get("name") == main.get("name") and _beside(each, main) and not _apart(each, main))
    ]


@lru_cache(maxsize=8)
def evaluation_streams(script: Script) -> frozenset[int]:
    """Environments that are played after learning has begun and never learned from. Those in doubt are left out."""
    main = next((each for each in script.streams if int(each["index"]) == roles_of(script).stream), None)
    if main is None:
        return frozenset()
    learned, sure = _rows(script)
    if not learned:
        return frozenset()  # not one row of a loss was found again: nothing says which is learned from
    return frozenset(
        int(each["index"])
        for each in script.streams
        if each is not main
        and int(each["index"]) not in learned
        and each.get("steps")
        and not _learned_amid(each)
        and (sure or int(each["steps"]) < _AS_MUCH * int(main["steps"]) or _apart(each, main))
    )


@lru_cache(maxsize=8)
def evaluation_calls(script: Script) -> tuple[Call, ...]:
    """Calls of networks on the current observations of such an environment, after the first update."""
    chosen = evaluation_streams(script)
    found = []
    for call in calls_of(script):
        if not call.event.get("acting") or not call.update:
            continue
        places = call.places[call.known]
        if len(places) and int(call.audit.nodes.stream[places[0]]) in chosen:
            found.append(call)
    return tuple(found)


def number(value: Any) -> float:
    """A number of script.jsonl; those that JSON does not know are written as words."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


def fact(stream: Stream, name: str) -> Any:
    return (stream.get("facts") or {}).get(name)


def wrappers(stream: Stream) -> list[str]:
    """Names of classes, outermost first."""
    return [str(each) for each in fact(stream, "wrappers") or ()]


def name_of(stream: Stream) -> str:
    return str(stream.get("name") or "the environment")


def _beside(stream: Stream, main: Stream) -> bool:
    return int(stream.get("steps") or 0) >= _AS_MUCH * int(main.get("steps") or 0)


def _learned_amid(stream: Stream) -> bool:
    """The program learns several times in each of its episodes: so goes on training, as in an environment put in later.

    An evaluation is not interrupted.
    """
    lengths, phases = stream.get("lengths") or (), int(stream.get("phases") or 0)
    calls = int(stream.get("steps") or 0) / max(int(stream.get("lanes") or 1), 1)
    return phases >= _MANY and bool(lengths) and calls / phases < 0.5 * sum(lengths) / len(lengths)


def _apart(stream: Stream, main: Stream) -> bool:
    """Only played: with chosen seeds, or now and then and at length, and no row was ever found to come from it."""
    seldom = int(stream.get("phases") or 0) < _SELDOM * int(main.get("phases") or 0)
    return _played(stream) or (seldom and not int(stream.get("learned") or 0) and int(main.get("learned") or 0) > 0)


def _played(stream: Stream) -> bool:
    """A seed of its own for every episode: chosen ones, as an evaluation is repeated."""
    seeds = list(stream.get("seeds") or ())
    return len(seeds) >= 3 and all(each is not None for each in seeds)
