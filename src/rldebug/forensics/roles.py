"""Roles: who is policy, critic, target network, and which environment is trained in. By data flow, never by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from rldebug.evidence.script import Audit, Event, Script


@dataclass(frozen=True)
class Roles:
    policy: frozenset[str] = frozenset()  # modules that a weighted log-prob, or -Q(s, pi(s)), trains
    critic: frozenset[str] = frozenset()  # modules that a regression without a chosen action trains
    q: frozenset[str] = frozenset()  # modules that a regression of chosen actions trains
    targets: tuple[tuple[str, str], ...] = ()  # (target network, the network it follows)
    stream: int | None = None  # the environment that is learned from
    others: frozenset[int] = frozenset()  # environments that are stepped and never learned from: evaluation
    on_policy: bool | None = None  # rows of the policy loss come from the phase they are learned in
    family: str | None = (
        None  # "ppo", "policy-gradient", "q-learning", "actor-critic-off-policy", …; None where unknown
    )

    @property
    def target_names(self) -> frozenset[str]:
        return frozenset(each for each, _ in self.targets)


@lru_cache(maxsize=8)
def roles_of(script: Script) -> Roles:
    policy, critic, q = set[str](), set[str](), set[str]()
    through = set[str]()  # an actor that learns through its critic, and that critic
    averaged = set[str]()  # networks that act, and learn from an average over their actions, as in discrete SAC
    chosen = any("index" in term.arrays for _, term in script.terms("regression"))
    ratio = False
    rows: Counter[int] = Counter()
    fresh = stale = 0
    for audit, term in script.events("term"):
        reached = set(term.get("reached") or ())
        kind = term["kind"]
        if kind == "policy":
            policy |= reached
            ratio |= "ratio" in term.arrays
        elif kind == "regression":
            (q if "index" in term.arrays else critic).update(reached)
        elif kind == "classification" and term.get("op") == "soft-cross-entropy" and "index" in term.arrays:
            q |= reached  # a distribution over returns, of chosen actions
        elif kind == "other" and term.get("op") in ("expected", "kl"):
            averaged |= {name for name in reached if script.modules.get(name, {}).get("acting")}
        elif kind == "output":
            through |= reached
        ids = term.arrays.get("rows")
        if ids is None or not len(ids):
            continue
        known = ids[audit.nodes.known(ids)]
        rows.update(audit.nodes.column("stream", known).tolist())
        if kind == "policy" and len(known):
            phases = audit.nodes.column("phase", known)
            fresh += int((phases >= audit.phase).sum())
            stale += int((phases < audit.phase).sum())
    # Values of chosen actions that are pushed as they are (conservative Q-learning) make no actor.
    policy |= through - critic - q or through - q
    soft = averaged - critic - q if chosen and not policy else set[str]()
    policy |= soft
    stream = rows.most_common(1)[0][0] if rows else _most_stepped(script)
    others = frozenset(
        int(each["index"])
        for each in script.streams
        if each["steps"] and stream is not None and int(each["index"]) != stream and not rows.get(int(each["index"]))
    )
    targets = tuple(_targets(script, policy | critic | q))
    on_policy = None if fresh + stale < 8 else fresh > stale
    return Roles(
        policy=frozenset(policy),
        critic=frozenset(critic),
        q=frozenset(q),
        targets=targets,
        stream=stream,
        others=others,
        on_policy=on_policy,
        family="actor-critic-off-policy" if soft else _family(policy, critic, q, ratio, on_policy, bool(targets)),
    )


def _most_stepped(script: Script) -> int | None:
    # What is learned from is stepped between updates, over and over; an evaluation may take more steps, all at once.
    steady = [each for each in script.streams if int(each.get("phases") or 0) >= 20]
    best = max(steady or script.streams, key=lambda each: int(each["steps"]), default=None)
    return None if best is None else int(best["index"])


def _targets(script: Script, trained: set[str]) -> Iterator[tuple[str, str]]:
    """A network of the same shapes as a trained one, that no optimizer owns, and that is called without gradients."""
    pairs: Counter[tuple[str, str]] = Counter()
    for _, event in script.events("weights"):
        name = event["module"]
        if script.owners(name):
            continue
        for other in event.get("distance") or {}:
            if script.owners(other):
                pairs[name, other] += 1
    called = {event["module"] for _, event in script.events("call") if not event["grad"] and not event["acting"]}
    called |= {event["module"] for _, event in script.events("copy")}
    taken: set[str] = set()
    for (name, other), _ in pairs.most_common():
        if name in called and name not in taken:
            taken.add(name)
            yield name, other


def _family(
    policy: set[str], critic: set[str], q: set[str], ratio: bool, on_policy: bool | None, copies: bool
) -> str | None:
    if policy and ratio:
        return "ppo"
    if policy and on_policy:
        return "actor-critic" if critic else "policy-gradient"
    if policy and (critic or q):
        return "actor-critic-off-policy" if copies or on_policy is False else "actor-critic"
    if policy:
        return "policy-gradient"
    return "q-learning" if q else None


def acting_calls(script: Script) -> Iterator[tuple[Audit, Event]]:
    """Calls on the current observations of the environment that is learned from."""
    stream = roles_of(script).stream
    for audit, event in script.events("call"):
        if not event.get("acting"):
            continue
        ids = event.arrays["rows"]
        known = ids[audit.nodes.known(ids)]
        if len(known) and (stream is None or int(audit.nodes.column("stream", known[:1])[0]) == stream):
            yield audit, event


def known_rows(audit: Audit, event: Event, *, unambiguous: bool = True) -> np.ndarray:
    """Places of the rows of an event whose observation is known; those with an equal one are left out."""
    ids = event.arrays.get("rows")
    if ids is None or not len(ids) or not len(audit.nodes):
        return np.empty(0, dtype=np.int64)
    places = audit.nodes.index(ids)
    keep = places >= 0
    if unambiguous:
        keep &= np.where(places >= 0, audit.nodes.alike[places] == 0, False)
    return np.flatnonzero(keep)
