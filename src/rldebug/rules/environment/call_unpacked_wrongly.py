"""What reset() or step() returns is unpacked into another number."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.place import place
from rldebug.evidence.crashes.signs import calls
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
    1. The program takes four values from `step()`, and the environment gives five. Confirm: look at the line.
    2. The environment or a wrapper is the old one, and the program is new. Confirm: look at what its `step()` and
       `reset()` return.
    3. A vector environment of another library returns four, and one. Confirm: the same.

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
        message, help = _told(evidence)
        given = [f"{name} is a {fact['type']}" for _, name, fact in evidence.held("environment")]
        yield self.finding(
            message,
            where=evidence.where,
            seen=f"{evidence.said}, in `{evidence.at.source if evidence.at else ''}`"
            + (f"; {given[0]}" if given else ""),
            expected="obs, reward, terminated, truncated, info from step(), and obs, info from reset()",
            help=help,
            confidence=0.9,
        )


def _told(crash: Crash) -> tuple[str, str]:
    """Which of the two is the old one: the program, or the environment."""
    wanted = re.search(r"expected (\d+)(?:, got (\d+))?", crash.message)
    number = int(wanted[1]) if wanted else 0
    line = crash.last.source if crash.last and not crash.last.own else crash.at.source if crash.at else ""
    step = ".step(" in line or (".reset(" not in line and number >= 4)
    library = crash.last is not None and not crash.last.own
    outside = f", in {crash.last.module}" if library and crash.last else ""
    if step and number == 4 and crash.says("too many"):
        return (
            f"step() returns five values, and four are unpacked{outside}",
            "write obs, reward, terminated, truncated, info = env.step(action), and done = terminated or truncated; "
            "keep terminated alone for bootstrapping",
        )
    if step:
        got = f"{wanted[2]} values" if wanted and wanted[2] else "another number of values"
        return (
            f"step() returned {got}, and {number} are unpacked{outside}: the environment has the API of old gym",
            "let the environment's step() return obs, reward, terminated, truncated, info, and its reset() obs, info; "
            "wrap one that is not yours with shimmy. A VecEnv of Stable-Baselines3 returns four, and obs alone",
        )
    return (
        f"reset() returned something that is not the two values obs, info{outside}",
        "let the environment's reset() return obs, info. Where it is a VecEnv of Stable-Baselines3 or old gym, write "
        "obs = env.reset()",
    )
