"""Updates: what lies between two steps of one optimizer, in order. Losses, gradients that are cleared or clipped."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from rldebug.evidence.script import Audit, Event, Script


@dataclass(frozen=True, eq=False)
class Update:
    """A step of an optimizer, and what came before it since its own step before."""

    audit: Audit
    step: Event
    before: tuple[Event, ...]  # loss, zero, clip; and the steps of other optimizers
    first: bool  # of its optimizer in this audit: what came before the audit was not seen

    def of(self, kind: str) -> list[Event]:
        return [each for each in self.before if each.kind == kind]


@lru_cache(maxsize=8)
def updates_of(script: Script) -> dict[str, tuple[Update, ...]]:
    """By optimizer: its steps in audits, in order."""
    found: dict[str, list[Update]] = {}
    for audit in script.audits:
        events = audit.of("loss", "zero", "clip", "step")
        last: dict[str, int] = {}
        for place, event in enumerate(events):
            if event.kind == "step":
                name = str(event["optimizer"])
                before = tuple(events[last.get(name, -1) + 1 : place])
                found.setdefault(name, []).append(Update(audit, event, before, name not in last))
                last[name] = place
    return {name: tuple(each) for name, each in found.items()}


def held(script: Script, optimizer: str) -> frozenset[str]:
    """Networks that an optimizer has parameters of."""
    return frozenset(script.optimizers.get(optimizer, {}).get("modules") or ())


def cleared(script: Script, zero: Event) -> frozenset[str]:
    """Networks whose gradients this clears."""
    if zero.get("optimizer") is not None:
        return held(script, str(zero["optimizer"]))
    name = str(zero.get("module"))
    inside = {key for key, each in script.modules.items() if each.get("inside") == name}
    return frozenset({name} | inside)


def restored(script: Script) -> bool:
    """Whether weights came out of a file: the program may go on with, or try out, what was trained before."""
    return bool(script.noted("restored")) or any(each.get("what") == "file" for each in script.noted("load"))


def resumed(script: Script) -> bool:
    """Whether they did while there was learning to come. What is read when all is learned is only tried out."""
    updates = int(script.counts.get("updates") or 0)
    read = [each for each in script.notes if each.get("kind") in ("restored", "load")]
    return any(
        (each["kind"] == "restored" or each.get("what") == "file")
        and (not updates or int(each.get("update") or 0) < updates)
        for each in read
    )
