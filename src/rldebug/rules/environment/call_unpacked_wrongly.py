"""What reset() or step() returns is unpacked into another number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crash_place import place
from rldebug.evidence.crash_signs import calls
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class CallUnpackedWrongly(Rule):
    """What reset() or step() returns is unpacked into another number.

    ## What it checks
    Unpacking failed on a line that calls `reset()` or `step()`.

    ## Why it matters
    Gym's API changed in 0.26: `reset()` returns observation and info, `step()` five values. Code and environment are of
    different ages.

    ## Likely causes
    1. The program takes four values from `step()`, or one from `reset()`, and the environment gives five and two.
       Confirm: look at the line.
    2. The environment or a wrapper is the old one, and the program is new. Confirm: look at what its `step()` returns.
    3. A vector environment of another library returns four. Confirm: the same.

    ## What to try first
    Write `obs, reward, terminated, truncated, info = env.step(action)` and `obs, info = env.reset()`.

    ## When it is fine
    Never: the program has ended.

    ## References
    Gymnasium, `Env.step` and `Env.reset`.
    """

    code: ClassVar[str] = "ENV401"
    name: ClassVar[str] = "call-unpacked-wrongly"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        unpacked = evidence.says("(too many|not enough) values to unpack", "cannot unpack non-iterable")
        return unpacked and (calls(evidence.at, "step", "reset") or place(evidence) == "environment")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        step = calls(evidence.at, "step")
        yield self.finding(
            f"what {'step()' if step else 'reset()'} returns was unpacked into another number of values",
            where=evidence.where,
            seen=f"{evidence.said}, in `{evidence.at.source if evidence.at else ''}`",
            expected="obs, reward, terminated, truncated, info from step(), and obs, info from reset()",
            help="unpack five values from step() and two from reset(), or wrap the environment in one of the other age",
            confidence=0.9,
        )
