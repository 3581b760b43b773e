"""Ownership: networks that a loss leads to, and that no optimizer holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from rldebug.evidence.script import Event, Script
from rldebug.forensics.roles import roles_of
from rldebug.forensics.updates import resumed


@dataclass(frozen=True, eq=False)
class Orphan:
    """A network that losses lead to, and of which no optimizer holds all that they lead to."""

    module: str
    loss: Event  # the first that leads to it
    losses: int
    reached: int  # tensors that losses lead to
    owned: int  # tensors that optimizers hold

    @property
    def whole(self) -> bool:
        return self.owned == 0


@lru_cache(maxsize=8)
def orphans(script: Script) -> tuple[Orphan, ...]:
    # Weights out of a file may be meant to stay as they are. A step inside a compiled function is not seen.
    if resumed(script) or script.noted("compile"):
        return ()
    return tuple(each for name in script.modules if (each := _orphan(script, name)) is not None)


def _orphan(script: Script, name: str) -> Orphan | None:
    thing = script.modules[name]
    trainable, owned = int(thing.get("trainable") or 0), sum((thing.get("owners") or {}).values())
    if owned >= trainable or not script.optimizers or _moved(script, name, bool(owned)):
        return None
    losses = [
        event
        for _, event in script.events("loss")
        if name in event["reached"] and event["how"] == "backward" and not event.get("asked")
    ]
    audits = {audit.number for audit, event in script.events("loss") if name in event["reached"]}
    if len(losses) < 4 or len(audits) < 2 or any(event.get("asked") for _, event in script.events("loss")):
        return None
    missed: set[str] | None = None
    for each in losses:
        if int(each.get("missed") or 0) > len(each["frozen"]):
            return None  # too many to have been named
        own = {key for key in each["frozen"] if key.startswith(f"{name}.")}
        missed = own if missed is None else missed & own
    reached = trainable - len(missed or ())
    return Orphan(name, losses[0], len(losses), reached, owned) if reached > owned else None


def _moved(script: Script, name: str, partly: bool) -> bool:
    """Whether something else trains it: it is copied to, stepped by hand, or by an optimizer that is gone by now."""
    if name in roles_of(script).target_names and not any(starved(script)):
        return True  # else the two were exchanged: an optimizer holds the copy, and finds no gradient there
    if any(each.get("module") == name for each in script.things.get("copy", {}).values()):
        return True
    events = [event for _, event in script.events("weights") if event["module"] == name]
    if any(event.get("by_hand") for event in events):
        return True
    if partly:
        return False
    prints = {event.get("fingerprint") for event in events}
    return len(events) < 2 or len(prints) > 1 or any(event.get("trained") for event in events)


def starved(script: Script) -> Iterator[tuple[str, Event, int]]:
    """Optimizers that step and step, and never find a gradient: name, first step, steps that were seen."""
    steps: dict[str, list[Event]] = {}
    for _, event in script.events("step"):
        steps.setdefault(str(event["optimizer"]), []).append(event)
    for name, events in steps.items():
        if len(events) >= 4 and all(each.get("of") and each.get("without") == each["of"] for each in events):
            yield name, events[0], len(events)


def outermost(script: Script, name: str) -> str:
    """The network that it is a part of; itself where it is none."""
    thing: Mapping[str, Any] | None = script.modules.get(name)
    for _ in range(8):
        inside = thing.get("inside") if thing is not None else None
        if not inside:
            break
        name, thing = str(inside), script.modules.get(str(inside))
    return name
