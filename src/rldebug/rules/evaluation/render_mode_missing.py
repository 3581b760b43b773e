"""Pictures are wanted of an environment that was made without them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.bound import bound
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class RenderModeMissing(Rule):
    """Pictures are wanted of an environment that was made without them.

    ## What it checks
    A recorder, or `render()`, was used on an environment whose `render_mode` is None or gives no picture.

    ## Why it matters
    The mode is chosen once, when the environment is made.

    ## Likely causes
    1. `make()` was called without `render_mode`. Confirm: print `env.render_mode`.
    2. `render_mode="human"` draws into a window and returns nothing that can be recorded. Confirm: the same.
    3. `render(mode=…)` is the API of old gym. Confirm: look at the line.

    ## What to try first
    Make it with `render_mode="rgb_array"`.

    ## When it is fine
    Never: the program has ended.

    ## References
    Gymnasium, `make` and `RecordVideo`.
    """

    code: ClassVar[str] = "EVA440"
    name: ClassVar[str] = "render-mode-missing"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(
            r"Render mode is \w+, which is incompatible with",
            "calling render method without specifying any render mode",
            r"Expected env\.render_mode to be (not None|one of)",
            r"render\(\) got an unexpected keyword argument 'mode'",
            "that is not in the possible render_modes",
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        mode = re.search(r"Render mode is (\w+)|render_mode='(\w+)'", evidence.message)
        told = (mode[1] or mode[2]) if mode else "None"
        used = [name for name, fact in evidence.operands().items() if fact["kind"] == "environment"]
        env = f"the environment {used[0]}" if len(used) == 1 else "the environment"
        origin = bound(evidence, evidence.at, used[0]) if len(used) == 1 else None
        yield self.finding(
            f"render() of {env} was given a mode"
            if evidence.says("argument 'mode'")
            else f"{env} was made with render_mode={told}, and a picture is asked of it",
            where=evidence.where,
            seen=evidence.said + (f"; {env} was made in {origin.place} by `{origin.text}`" if origin else ""),
            expected="a mode that gives pictures, chosen when the environment is made",
            help='write gymnasium.make(…, render_mode="rgb_array"), and render() without arguments',
            confidence=0.95,
        )
