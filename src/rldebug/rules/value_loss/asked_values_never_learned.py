"""A head is asked for values, and nothing trains it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.ownership import outermost
from rldebug.forensics.updates import resumed
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class AskedValuesNeverLearned(Rule):
    """A head is asked for values, and nothing trains it.

    ## What it checks
    A part of a network gives one number for each row. It is asked for that number by itself, without gradients, where
    the part that acts is not asked for anything: such a value is wanted for what follows the last step. An optimizer
    holds it and steps; it is the same at every look, while the rest of the network changes, and every loss that leads
    to the network misses as many parameters as it has. Exact.

    ## Why it matters
    Advantages are made with the values of a head that stays as it was drawn. The policy learns all the same, from
    noise and rewards, so that the curve rises slowly and levels out too low.

    ## Likely causes
    1. The value loss is computed from values without a graph: `.detach()`, or values that were stored while acting.
       Confirm: print `requires_grad` of the values in the loss.
    2. The value loss is not added to what `backward()` is called on. Confirm: read that line.

    ## What to try first
    Print the gradient of the last layer of this head after `backward()`.

    ## When it is fine
    A head that is kept for later, and whose values go nowhere.

    ## References
    PyTorch, *Autograd mechanics*. Stable-Baselines3, *Custom policy network* (`evaluate_actions`).
    """

    code: ClassVar[str] = "VAL398"
    name: ClassVar[str] = "asked-values-never-learned"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "loss"
    explains: ClassVar[tuple[str, ...]] = ("GRA003",)

    looks: int = 3  # at its weights
    steps: int = 20  # of its optimizer
    losses: int = 8  # that lead to the network
    alone: int = 3  # calls more than of what acts

    def check(self, evidence: Script) -> Iterator[Finding]:
        losses = [each for _, each in evidence.events("loss")]
        if resumed(evidence) or evidence.noted("compile"):
            raise NotEnough("weights came out of a file, or losses may be out of sight")
        if len(losses) < self.losses:
            raise NotEnough(f"{len(losses)} losses were looked into, needs {self.losses}")
        asked = _asked(evidence)
        for name, thing in evidence.modules.items():
            around, trainable = outermost(evidence, name), int(thing.get("trainable") or 0)
            if around == name or not self._still(evidence, name, thing):
                continue
            near = [each for each in losses if {name, around} & set(each["reached"])]
            if len(near) < self.losses or any(
                name in each["reached"] or int(each.get("missed") or 0) < trainable for each in near
            ):
                continue
            calls, event = asked.get(name, (0, None))
            if event is None or not _single(event):
                continue
            acts = _beside(evidence, name, event) or ([around] if evidence.modules[around].get("acting") else [])
            more = calls - min((asked.get(each, (0, None))[0] for each in acts), default=calls)
            if more < self.alone:
                continue
            yield self.finding(
                f"{name} is asked for values, and no loss leads to it",
                where=event.where,
                seen=f"asked {more} times without gradients where what acts was not; none of {len(near)} losses that "
                f"lead to {around} leads to its {trainable} parameter tensors, and they are the same at "
                f"{len(_prints(evidence, name))} looks",
                expected="a value loss with a graph, in what backward() is called on",
                help=f"look for detach(), no_grad() or stored values between {name} and the value loss",
                confidence=0.93,
            )
            return

    def _still(self, script: Script, name: str, thing: Mapping[str, Any]) -> bool:
        """Held by an optimizer that steps, used while acting, and never changed."""
        owners, trainable = thing.get("owners") or {}, int(thing.get("trainable") or 0)
        if not trainable or not thing.get("acting") or max(owners.values(), default=0) < trainable:
            return False
        steps = max(int(script.optimizers.get(each, {}).get("steps") or 0) for each in owners)
        prints = _prints(script, name)
        return steps >= self.steps and len(prints) >= self.looks and len(set(prints)) == 1


def _prints(script: Script, name: str) -> list[str]:
    return [str(each["fingerprint"]) for _, each in script.events("weights") if each["module"] == name]


def _asked(script: Script) -> dict[str, tuple[int, Event | None]]:
    """How often each part is called without gradients, and the first of these calls."""
    found: dict[str, tuple[int, Event | None]] = {}
    for _, each in script.events("call"):
        if not each["grad"]:
            count, first = found.get(each["module"], (0, None))
            found[each["module"]] = (count + int(each.get("calls") or 1), first or each)
    return found


def _beside(script: Script, name: str, event: Event) -> list[str]:
    """Parts of the same network that act and learn, other than what the head is fed by."""
    around, width = outermost(script, name), _width(event, "inputs")
    widths = {each["module"]: _width(each, "outputs") for _, each in script.events("call")}
    return [
        other
        for other, its in script.modules.items()
        if other not in (name, around)
        and outermost(script, other) == around
        and its.get("acting")
        and widths.get(other) != width
        and not _within(script, other, name)
        and len(set(_prints(script, other))) > 1
    ]


def _width(event: Event, side: str) -> int | None:
    """The last extent of the first tensor that goes in, or comes out."""
    tensors = event.get(side) or ()
    shape = tensors[0].get("shape") if tensors else None
    return int(shape[-1]) if shape else None


def _within(script: Script, part: str, name: str) -> bool:
    """Whether the one is a part of the other, or the other way round."""
    for one, other in ((part, name), (name, part)):
        inside: str | None = one
        for _ in range(8):
            inside = script.modules.get(inside, {}).get("inside") if inside else None
            if inside == other:
                return True
    return False


def _single(event: Event) -> bool:
    outputs = event.get("outputs") or ()
    shape = list(outputs[0].get("shape") or ()) if outputs else []
    rows = len(event.arrays.get("rows", ()))
    calls = int(event.get("calls") or 1)
    return len(outputs) == 1 and (shape[-1:] == [1] or (len(shape) == 1 and shape[0] * calls >= rows))
