"""Traps: a rule, or any predicate on a reading, that stops the run where it first holds — or keeps a snapshot of it."""

from __future__ import annotations

import pdb
import sys
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

from torch import Tensor

from rldebug import catalogue
from rldebug.evidence.run import Reading, Run
from rldebug.finding import Finding
from rldebug.record import Recorder
from rldebug.rule import NotEnough, Rule

Predicate = Callable[[Mapping[str, float]], bool]
ACTIONS = ("raise", "pdb", "snapshot")


class Tripped(RuntimeError):
    """A trap set to "raise" found what it was set for; the message is the finding."""


def set_traps(traps: Mapping[str | Predicate, str]) -> list[tuple[Rule | Predicate, str]]:
    """`{"nonfinite-gradient": "raise", my_predicate: "snapshot"}`, checked."""
    found: list[tuple[Rule | Predicate, str]] = []
    for trap, action in traps.items():
        if action not in ACTIONS:
            raise ValueError(f"rldebug.watch(traps=...): {action!r} is not an action, expected one of {ACTIONS}")
        if not isinstance(trap, str):
            found.append((trap, action))
            continue
        rule = catalogue.find(trap)
        if not (isinstance(rule, type) and issubclass(rule, Rule) and rule.trap):
            usable = ", ".join(each.name for each in catalogue.rules() if each.trap)
            raise ValueError(f"rldebug.watch(traps=...): {trap} cannot be a trap, expected one of: {usable}")
        found.append((rule(), action))
    return found


def sprung(trap: Rule | Predicate, reading: Reading) -> Finding | None:
    """What the trap finds in this one reading."""
    if isinstance(trap, Rule):
        try:
            return next(iter(trap.check(Run.of([reading]))), None)
        except NotEnough:
            return None
    if not trap(reading.numbers):
        return None
    name = getattr(trap, "__name__", "").strip("<>").replace("_", "-") or "predicate"
    return Finding(
        code="GRA000",
        name=name,
        component="autograd-graph",
        severity="note",
        message=f"the trap {name} was sprung",
        seen=f"it holds for the reading of update {reading.update}",
        expected="it to stay false",
        help="look at this update's readings in the run folder",
        confidence=1.0,
    )


def act(
    action: str, finding: Finding, reading: Reading, record: Recorder, tensors: Mapping[str, Tensor], frame: FrameType
) -> None:
    """Stop in the debugger in the user's own frame, raise, or keep the weights and gradients as they are now."""
    record.append_finding(finding)
    text = f"{finding.code} {finding.name}: {finding.message}\n  seen: {finding.seen}\n  help: {finding.help}"
    if action == "snapshot":
        file = record.snapshot(f"{finding.name}-{reading.update}", tensors)
        print(f"rldebug: {text}\n  kept: {file}", file=sys.stderr)
    elif action == "raise":
        raise Tripped(text)
    else:
        print(f"rldebug: {text}", file=sys.stderr)
        _debugger().set_trace(frame)


def _debugger() -> Any:
    return pdb.Pdb()
