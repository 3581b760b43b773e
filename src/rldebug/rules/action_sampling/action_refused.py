"""The environment refuses the action that it is given."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crash_place import place
from rldebug.evidence.crash_signs import told
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
        given = f"; step() was given {told(steps[-1].action)}" if steps and steps[-1].action else ""
        spaces = [fact["action_space"]["told"] for _, _, fact in evidence.held("environment") if "action_space" in fact]
        yield self.finding(
            "the environment refused an action",
            where=_caller(evidence),
            seen=f"{evidence.said}{given}",
            expected=f"an action of {spaces[0]}" if spaces else "an action of the environment's action space",
            help="print the action and env.action_space; take argmax rather than max, clip or scale to the bounds",
            confidence=0.9,
        )
