"""A checkpoint holds an object whose class is no longer where it was."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.signs import unpickled
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class CheckpointOfMissingClass(Rule):
    """A checkpoint holds an object whose class is no longer where it was.

    ## What it checks
    Loading a pickled object failed, because its module or class was not found.

    ## Why it matters
    A pickled object holds the name of its class and of the file that defines it, not the class.

    ## Likely causes
    1. The class was renamed, moved or deleted since. Confirm: look for it under the name in the message.
    2. It was defined in the script that saved it, and another script loads it: its name begins with `__main__`.
       Confirm: the message says so.
    3. It was saved with another version of a library, as numpy 2 for numpy 1. Confirm: the module is the library's.

    ## What to try first
    Save `state_dict()`s rather than whole objects. For this file: make the class importable under its old name.

    ## When it is fine
    Never: the program has ended.

    ## References
    Python, `pickle`: *What can be pickled and unpickled?*
    """

    code: ClassVar[str] = "CKP443"
    name: ClassVar[str] = "checkpoint-of-missing-class"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return unpickled(evidence) and evidence.says("Can't get attribute '", "No module named '")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        found = re.search(r"(?:attribute|named) '([^']+)'(?: on <module '([\w.]+)')?", evidence.message)
        name = f"{found[2]}.{found[1]}" if found and found[2] else found[1] if found else "a class"
        yield self.finding(
            f"the checkpoint needs {name}, which is no longer there",
            where=evidence.where,
            seen=evidence.said,
            expected="the classes of pickled objects where they were when they were saved",
            help=f"make {name} importable again under that name, load, and save its state_dict() instead",
            confidence=0.9,
        )
