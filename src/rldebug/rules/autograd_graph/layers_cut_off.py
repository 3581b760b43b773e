"""What some layers give goes on into others that learn, and they learn nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rldebug.evidence.script import Audit, Event, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.ownership import outermost
from rldebug.forensics.updates import resumed
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class LayersCutOff(Rule):
    """Layers feed others that learn, and are cut off from the loss.

    ## What it checks
    A part of a network is called while gradients are on, and gives outputs with a graph. Those very numbers are the
    input of another part, whose weights change from look to look. Its own weights never do, though an optimizer holds
    all of them and steps, and every loss that leads to the network misses as many parameters as the part has. Exact.

    ## Why it matters
    It stays as it was made, at random. What comes after it learns all the same, so that the curve rises, and ends too
    low.

    ## Likely causes
    1. `.detach()`, `.data`, numpy or `torch.no_grad()` between the two. Confirm: print `requires_grad` of what goes
       into the second one.

    ## What to try first
    Follow the output of these layers to the loss.

    ## When it is fine
    Layers that are to stay at random. Say so with `requires_grad_(False)`: this is quiet then.

    ## References
    PyTorch, *Autograd mechanics*.
    """

    code: ClassVar[str] = "GRA305"
    name: ClassVar[str] = "layers-cut-off"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    follows: ClassVar[tuple[str, ...]] = ("GRA303", "NET304")
    explains: ClassVar[tuple[str, ...]] = ("GRA003",)

    looks: int = 3  # at its weights
    steps: int = 10  # of its optimizer
    losses: int = 4  # that were looked into
    calls: int = 4  # in which its output was found in another input

    def check(self, evidence: Script) -> Iterator[Finding]:
        losses = [each for _, each in evidence.events("loss")]
        if resumed(evidence) or evidence.noted("compile"):
            raise NotEnough("weights came out of a file, or losses may be out of sight")
        if len(losses) < self.losses:
            raise NotEnough(f"{len(losses)} losses were looked into, needs {self.losses}")
        still = [name for name, thing in evidence.modules.items() if self._still(evidence, name, thing)]
        for name in still:
            trainable = int(evidence.modules[name]["trainable"])
            around = outermost(evidence, name)
            near = [each for each in losses if {name, around} & set(each["reached"])]
            if any(name in each["reached"] or int(each.get("missed") or 0) < trainable for each in near):
                continue
            fed = self._fed(evidence, name)
            if fed is None:
                continue
            event, other = fed
            yield self.finding(
                f"{name} feeds {other}, and no loss leads back to it",
                where=event.where,
                seen=f"what {name} gives is the input of {other}, which learns; its own {trainable} parameter tensors "
                f"are the same at every look, and none of {len(losses)} losses leads to them",
                expected="a graph from the loss to all layers that an optimizer holds",
                help=f"look for detach(), no_grad() or numpy between {name} and {other}",
                confidence=0.92,
            )
            return

    def _still(self, script: Script, name: str, thing: Mapping[str, Any]) -> bool:
        """Held by an optimizer that steps, and never changed."""
        owners, trainable = thing.get("owners") or {}, int(thing.get("trainable") or 0)
        if not trainable or max(owners.values(), default=0) < trainable:
            return False
        steps = max(int(script.optimizers.get(each, {}).get("steps") or 0) for each in owners)
        prints = _prints(script, name)
        return steps >= self.steps and len(prints) >= self.looks and len(set(prints)) == 1

    def _fed(self, script: Script, name: str) -> tuple[Event, str] | None:
        """The part whose input its output is, and whose weights change."""
        found: dict[str, int] = {}
        first: Event | None = None
        for audit in script.audits:
            for event in _learning(audit, name):
                for other in _takers(audit, event, name):
                    if len(set(_prints(script, other))) > 1:
                        found[other] = found.get(other, 0) + int(event.get("calls") or 1)
                        first = first or event
        best = max(found, key=lambda each: found[each], default=None)
        if best is None or first is None or found[best] < self.calls:
            return None
        return first, best


def _prints(script: Script, name: str) -> list[str]:
    return [str(each["fingerprint"]) for _, each in script.events("weights") if each["module"] == name]


def _learning(audit: Audit, name: str) -> list[Event]:
    """Its calls with gradients on, whose output has a graph and was kept."""
    return [
        each
        for each in audit.calls
        if each["module"] == name
        and each["grad"]
        and "output0" in each.arrays
        and any(output.get("attached") for output in each.get("outputs") or ())
    ]


def _takers(audit: Audit, event: Event, name: str) -> Iterator[str]:
    """Those that are given the very numbers that it gave."""
    given = event.arrays["output0"]
    if not given.size or not float(np.std(given)) > 0:
        return
    for each in audit.calls:
        taken = each.arrays.get("input")
        if each["module"] != name and each["grad"] and taken is not None and np.array_equal(taken, given):
            yield str(each["module"])
