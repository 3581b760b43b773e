"""Followers: networks that bootstrap for another one of the same shape, and how their weights followed it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Event, Script
from rldebug.forensics.batches import around, owned, within

_SAME = 0.97  # share of rows in common from which two calls are on one batch: of few states many come up in both
_OFTEN = 0.3  # calls for each update in which the twin takes part: an actor learns through the critic, too
_LATER = 2  # optimizer steps after which the twin may learn from the same batch: the actor after the critic


@dataclass(frozen=True, eq=False)
class Follower:
    """A target network and the network it stands for, as seen at the end of each audit."""

    target: str
    online: str
    updates: tuple[int, ...]  # optimizer steps before each look
    prints: tuple[str, ...]  # of the target's weights
    online_prints: tuple[str, ...]
    distance: tuple[float, ...]  # relative to the target's norm
    copies: tuple[Event, ...]  # online -> target, in audits: in place, or a mixture that was loaded
    loads: tuple[int, ...]  # updates at which load_state_dict was called on the target, from whatever; the first 64
    loaded: int  # how often after the first update, in all
    whole: int  # how often of those the very weights of the other: what was loaded may be a mixture, made by hand
    own_loads: int  # of its own weights
    steps: int  # that optimizers of the online network took, in all
    line: tuple[str, int] | None  # of the call, or of the load
    glances: tuple[tuple[int, str, str, float], ...] = ()  # after that: update, print, print of the other, distance

    @property
    def span(self) -> int:
        return self.updates[-1] - self.updates[0] if self.updates else 0

    @property
    def still(self) -> bool:
        return len(set(self.prints)) == 1

    @property
    def to_the_end(self) -> Follower:
        """With the looks that were taken when there were no audits any more."""
        if not self.glances:
            return self
        updates, prints, others, away = zip(*self.glances, strict=True)
        return replace(
            self, updates=(*self.updates, *updates), prints=(*self.prints, *prints), glances=(),
            online_prints=(*self.online_prints, *others), distance=(*self.distance, *away),
        )  # fmt: skip

    @property
    def taus(self) -> NDArray[np.float64]:
        """Of copies that were seen one by one: between two of the others several updates may lie."""
        return np.array([float(each["tau"]) for each in self.copies if each.get("tau") is not None])


@lru_cache(maxsize=8)
def followers(script: Script) -> tuple[Follower, ...]:
    """Networks that no optimizer owns, called for another batch than the one their twin learns from."""
    looks = _looks(script)
    found = []
    for name in looks:
        if owned(script, name) or name not in script.modules:
            continue
        online = _twin(script, looks, name)
        if online is not None and bootstraps_for(script, name, online):
            found.append(_follower(script, looks, name, online))
    return tuple(found)


@lru_cache(maxsize=8)
def unasked(script: Script) -> tuple[tuple[Follower, Event], ...]:
    """Copies of a trained network that follow it and are never called, with the call in which it is asked itself."""
    looks = _looks(script)
    asked = dict(self_bootstrapped(script))
    found = []
    called = {str(event["module"]) for _, event in script.events("call")}
    called |= {name for name, thing in script.modules.items() if thing.get("calls")}
    for name, seen in looks.items():
        thing = script.modules.get(name)
        if thing is None or owned(script, name) or thing.get("inside"):
            continue
        # A method of its own may call the layers within and never the whole: what counts is whose weights are used.
        shared = {str(other) for _, look in seen.values() for other in look.get("shares") or ()}
        if called & (within(script, name) | shared):
            continue
        online = _twin(script, looks, name)
        if online in asked:
            found.append((_follower(script, looks, name, online), asked[online]))
    return tuple(found)


def _looks(script: Script) -> dict[str, dict[int, tuple[Audit, Event]]]:
    found: dict[str, dict[int, tuple[Audit, Event]]] = {}
    for audit, event in script.events("weights"):
        found.setdefault(str(event["module"]), {})[audit.number] = (audit, event)
    return found


def _twin(script: Script, looks: dict[str, dict[int, tuple[Audit, Event]]], name: str) -> str | None:
    """The trained network that it is copied from; else the one of its shape that it was nearest to at first."""
    for each in script.things.get("copy", {}).values():
        source = each.get("source")
        if each.get("module") == name and source not in (None, name) and owned(script, str(source)):
            return str(source)
    for _, event in looks[name].values():
        near = {
            other: away
            for other, away in (event.get("distance") or {}).items()
            if away is not None and owned(script, other) and other in looks
        }
        if near:
            return str(min(near, key=lambda other: float(near[other])))
    return None


def _follower(script: Script, looks: dict[str, dict[int, tuple[Audit, Event]]], name: str, online: str) -> Follower:
    both = sorted(set(looks[name]) & set(looks[online]))
    mine = [looks[name][each][1] for each in both]
    theirs = [looks[online][each][1] for each in both]
    # What is asked may be a part of what is loaded.
    mine_or_more, theirs_or_more = around(script, name), around(script, online)
    things = [each for each in script.things.get("copy", {}).values() if each.get("module") in mine_or_more]
    loads = [each for each in things if each.get("how") == "load_state_dict"]
    early = sum(sum(int(at) == 0 for at in each.get("updates") or ()) for each in loads)
    return Follower(
        target=name,
        online=online,
        updates=tuple(each.update for each in mine),
        prints=tuple(str(each["fingerprint"]) for each in mine),
        online_prints=tuple(str(each["fingerprint"]) for each in theirs),
        distance=tuple(float((each.get("distance") or {}).get(online) or 0.0) for each in mine),
        copies=tuple(
            event
            for _, event in script.events("copy")
            if event["module"] == name
            and event.get("source") == online
            # A mixture made by hand, and then loaded: its rate is known, unlike that of a copy.
            and (event.get("how") == "in place" or event.get("tau") is not None)
        ),
        loads=tuple(sorted(int(at) for each in loads for at in each.get("updates") or ())),
        loaded=sum(int(each.get("times") or 0) for each in loads) - early,
        whole=sum(
            _after_the_first(each) for each in loads if each.get("source") in theirs_or_more and not _mixed(each)
        ),
        own_loads=sum(int(each.get("times") or 0) for each in loads if each.get("source") == each.get("module")),
        steps=steps_of(script, online),
        line=_line(loads) or _called_at(script, name),
        glances=tuple(_glances(script, name, online, max((each.update for each in mine), default=0))),
    )


def _glances(script: Script, name: str, online: str, since: int) -> Iterator[tuple[int, str, str, float]]:
    seen = script.things.get("glance", {})
    own, other = seen.get(name, {}), seen.get(online, {})
    theirs = dict(zip(other.get("updates") or (), other.get("prints") or (), strict=False))
    columns = [own.get(each) or () for each in ("updates", "prints", "distance")]
    for update, mark, away in zip(*columns, strict=False):
        if update > since and update in theirs and away.get(online) is not None:
            yield int(update), str(mark), str(theirs[update]), float(away[online])


def _after_the_first(load: Mapping[str, Any]) -> int:
    return int(load.get("times") or 0) - sum(int(at) == 0 for at in load.get("updates") or ())


def _mixed(load: Mapping[str, Any]) -> bool:
    taus = [float(each) for each in load.get("taus") or () if each is not None]
    return bool(taus) and sum(taus) / len(taus) < 0.5


def steps_of(script: Script, module: str) -> int:
    """Steps that the optimizers of a network took."""
    while module in script.modules:
        owners = script.modules[module].get("owners") or {}
        if owners:
            return max(int(script.optimizers.get(each, {}).get("steps") or 0) for each in owners)
        module = str(script.modules[module].get("inside"))
    return 0


def _line(things: list[Any]) -> tuple[str, int] | None:
    lines = [each["line"] for each in sorted(things, key=lambda each: -int(each.get("times") or 0)) if each.get("line")]
    return (str(lines[0][0]), int(lines[0][1])) if lines else None


def _called_at(script: Script, name: str) -> tuple[str, int] | None:
    for _, event in script.events("call"):
        if event["module"] == name and event.get("line"):
            return str(event["line"][0]), int(event["line"][1])
    return None


def bootstraps_for(script: Script, name: str, online: str) -> bool:
    """Whether it is asked, in most updates of its twin, about other rows than the twin learns from.

    A reference policy, a reward model and the fixed network of a novelty bonus are asked about the very rows that
    their twin is trained on, in the same order or shuffled, or once for a whole rollout; a target network is asked
    anew in each update, about the rows after them. An old policy that only acts is no target either.
    """
    if _by_weighted_log_probs(script, online):
        return False
    shares = []
    asked_at, learned_at = set[tuple[int, int]](), set[tuple[int, int]]()
    for audit in script.audits:
        learning = [
            each for each in audit.calls if each["module"] == online and each["grad"] and not each.get("acting")
        ]
        asked = [each for each in audit.calls if each["module"] == name and not each.get("acting")]
        shares += [share for call in asked for other in learning if (share := _equal(call, other)) is not None]
        asked_at |= {(audit.number, int(at)) for each in asked for at in np.unique(_updates(each))}
        learned_at |= {(audit.number, int(at)) for each in learning for at in np.unique(_updates(each))}
    return len(shares) >= 2 and float(np.median(shares)) < _SAME and len(asked_at) > _OFTEN * len(learned_at)


def _by_weighted_log_probs(script: Script, module: str) -> bool:
    return any(
        term["kind"] == "policy" and module in (term.get("reached") or ()) and "target" not in term.arrays
        for _, term in script.events("term")
    )


def _equal(call: Event, other: Event) -> float | None:
    """Share of rows that two calls have in common, in any order. Merged calls are compared update by update."""
    for name in ("rows", "input", "input_stats"):
        mine, theirs = call.arrays.get(name), other.arrays.get(name)
        if mine is None or theirs is None or not len(mine) or not len(theirs):
            continue
        if name == "rows" and min((mine >= 0).mean(), (theirs >= 0).mean()) < 0.75:
            continue
        if mine.shape[1:] != theirs.shape[1:]:
            return None
        at, there = _updates(call), _updates(other)
        if len(at) != len(mine) or len(there) != len(theirs):
            return None
        shares = [
            share
            for update in np.unique(at)[:16]
            if (share := _common(mine[at == update], theirs, there, int(update))) is not None
        ]
        return float(np.mean(shares)) if shares else None
    return None


def _common(one: NDArray[Any], theirs: NDArray[Any], there: NDArray[np.int64], update: int) -> float | None:
    for later in range(_LATER + 1):
        two = theirs[there == update + later]
        if not len(two):
            continue
        if min(len(one), len(two)) < 4:
            return None
        counted = Counter(_keys(one)) & Counter(_keys(two))
        return counted.total() / min(len(one), len(two))
    return None


def _keys(rows: NDArray[Any]) -> list[bytes]:
    rounded = rows if rows.dtype.kind in "iub" else np.round(rows.astype(np.float64), 5) + 0.0
    return [each.tobytes() for each in rounded]


def _updates(event: Event) -> NDArray[np.int64]:
    """Optimizer steps before each row of a call."""
    updates = event.arrays.get("updates")
    rows = len(event.arrays.get("rows", ()))
    return np.full(rows, event.update) if updates is None or len(updates) != rows else np.asarray(updates)


def self_bootstrapped(script: Script) -> Iterator[tuple[str, Event]]:
    """Networks that are asked, in the update that trains them, about other rows than it trains on."""
    for name in script.modules:
        if not owned(script, name) or _by_weighted_log_probs(script, name):
            continue
        for audit in script.audits:
            calls = [each for each in audit.calls if each["module"] == name and not each.get("acting")]
            # What is detached afterwards was called with gradients on.
            pairs = [(one, two) for one in calls for two in calls if one is not two and two["grad"]]
            shares = [(share, one) for one, two in pairs if (share := _equal(one, two)) is not None]
            if shares and min(share for share, _ in shares) < _SAME:
                yield name, min(shares, key=lambda each: each[0])[1]
                break
