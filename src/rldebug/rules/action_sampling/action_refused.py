"""The environment refuses the action that it is given."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.bound import Bound, bound
from rldebug.evidence.crashes.facts import Fact
from rldebug.evidence.crashes.lines import at_origin
from rldebug.evidence.crashes.place import place
from rldebug.evidence.crashes.signs import told
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import Rule


def _caller(crash: Crash) -> Where:
    """The user's line that passed the action on: the innermost that is not an environment's own."""
    outside = [frame for frame in crash.own if frame.owner != "environment"]
    return replace(crash.where, file=outside[-1].file, line=outside[-1].line) if outside else crash.where


@dataclass(frozen=True, kw_only=True)
class ActionRefused(Rule):
    """The environment refuses the action that it is given.

    ## What it checks
    `step()` raised, and the action that it was given is not one of the environment's action space; or its error says
    so.

    ## Why it matters
    What the policy gives and what the environment takes do not match.

    ## Likely causes
    1. A value is sent instead of its index: `max` in place of `argmax`. Confirm: print the action and
       `env.action_space`.
    2. A continuous action is not clipped or scaled to the bounds; often so in evaluation only. Confirm: the same.
    3. The action has another shape or type: a tensor, an array of one element, a batch axis. Confirm: the same.

    ## What to try first
    Print the action and `env.action_space` before the line that is named.

    ## When it is fine
    Never: the program has ended.

    ## References
    Gymnasium, `Env.step` and `Env.reset`.
    """

    code: ClassVar[str] = "ACT403"
    name: ClassVar[str] = "action-refused"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        if evidence.says(r"\(<class '[\w.]+'>\) invalid$"):
            return True  # the words of the environments of Gymnasium
        steps = [frame for frame in evidence.frames if frame.owner == "environment" and frame.function == "step"]
        if not steps or place(evidence) not in ("environment", "preprocessing"):
            return False
        if evidence.is_a("ResetNeeded", "InvalidAction"):
            return evidence.is_a("InvalidAction")
        # The innermost tells: an inner environment may be given another action than the outer.
        known = [frame.contained for frame in steps if frame.contained is not None]
        last = evidence.last.source if evidence.last else ""
        objects = evidence.is_a("AssertionError", "ValueError") and re.search(r"action_space|(?i:\baction\b)", last)
        return known[-1] is False if known else bool(objects or evidence.says("(?i)invalid action"))

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        steps = [frame for frame in evidence.frames if frame.owner == "environment" and frame.action]
        action = steps[-1].action if steps else None
        spaces = [fact["action_space"] for _, _, fact in evidence.held("environment") if "action_space" in fact]
        space = spaces[0]["told"] if spaces else ""
        if (pair := _pair(evidence, action)) is not None:
            yield self._whole(evidence, *pair)
            return
        given = f"; step() was given {told(action)}" if action else ""
        yield self.finding(
            f"the environment refused an action: {told(action)} is none of {space}"
            if action and space
            else "the environment refused an action",
            where=_caller(evidence),
            seen=f"{evidence.said}{given}",
            expected=f"an action of {space}" if space else "an action of the environment's action space",
            help=_help(action, spaces[0] if spaces else {}),
            confidence=0.9,
        )

    def _whole(self, evidence: Crash, name: str, came: Bound | None) -> Finding:
        """What predict() gave was handed on as if it were the action."""
        by = f", made in {came.place} by `{came.text}`" if came else ""
        call = came.text.partition("(")[0] + "(…)" if came else "model.predict(…)"
        return self.finding(
            f"{name} is a pair, action and state, and was given to step() whole",
            where=at_origin(evidence, came) if came else _caller(evidence),
            seen=f"{evidence.said}; {name} is a tuple of 2{by}",
            expected="the first of the two",
            help=f"write {name if came else 'action'}, _ = {call}, and step with that",
            confidence=0.95,
        )


def _pair(crash: Crash, action: Fact | None) -> tuple[str, Bound | None] | None:
    """The name of a tuple (array, None or state), where predict() or the like gave it."""
    if not action or action.get("type") != "tuple" or action.get("length") != 2:
        return None
    outside = [frame for frame in crash.own if frame.owner != "environment"]
    for name, fact in outside[-1].facts.items() if outside else ():
        if fact.get("type") == "tuple" and fact.get("length") == 2 and name in outside[-1].operands:
            came = bound(crash, outside[-1], name)
            second = (fact.get("items") or [{}, {}])[-1]
            state = second.get("value", 0) is None or second.get("type") == "tuple"
            if (came is not None and ".predict(" in came.text) or (came is None and state):
                return name, came
    if outside and ".predict(" in outside[-1].source:
        return "what predict() gives", None
    return None


def _help(action: Fact | None, space: Fact) -> str:
    """By what the action is, and what it should be."""
    kind, one = (action or {}).get("kind"), (action or {}).get("shape") in ([], [1])
    if space.get("type") == "Discrete" and kind in ("tensor", "array") and one and "int" in (action or {})["dtype"]:
        return "the environment takes a plain whole number: write action.item()"
    if space.get("type") == "Box" and (kind == "number" or ((action or {}).get("shape") not in (None, space["shape"]))):
        return f"the environment takes an array of shape {tuple(space['shape'])}: write np.asarray([…], np.float32)"
    return "print the action and env.action_space; take argmax rather than max, clip or scale to the bounds"
