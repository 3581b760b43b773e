"""A wrapper looks for its environment in itself, without end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class WrapperAsksItself(Rule):
    """A wrapper looks for its environment in itself, without end.

    ## What it checks
    The program ended in a recursion of `__getattr__`.

    ## Why it matters
    `__getattr__` is called for what an object does not have. If what it hands on to is missing too, it calls
    itself.

    ## Likely causes
    1. `__getattr__` reads `self.env` before `__init__` has set it, as while the wrapper is unpickled or copied.
       Confirm: the line that is named.
    2. The wrapper does not call `super().__init__(env)`. Confirm: look at its `__init__`.

    ## What to try first
    Raise AttributeError in `__getattr__` for the field that it hands on to.

    ## When it is fine
    Never: the program has ended.

    ## References
    Python, *Data model*: `object.__getattr__`.
    """

    code: ClassVar[str] = "ENV452"
    name: ClassVar[str] = "wrapper-asks-itself"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        inner = evidence.frames[-6:]
        return evidence.is_a("RecursionError") and any(frame.function == "__getattr__" for frame in inner)

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        frame = next(each for each in reversed(evidence.frames) if each.function == "__getattr__")
        found = re.search(r"self\.(\w+)", frame.source)
        field = found[1] if found else "env"
        yield self.finding(
            f"the wrapper {frame.owner_type} asks itself for {field}, without end".replace("  ", " "),
            where=Where(file=frame.file, line=frame.line, update=evidence.updates, env_step=evidence.env_steps),
            seen=f"{evidence.said}, in `{frame.source}`",
            expected=f"{field} set before anything else is asked",
            help=f'write if name == "{field}" or name.startswith("__"): raise AttributeError(name) at the top of '
            "__getattr__, and call super().__init__(env) first",
            confidence=0.95,
        )
