"""A file in this folder hides a module that is imported."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.machine import Machine
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ModuleHidden(Rule):
    """A file in this folder hides a module that is imported.

    ## What it checks
    Files and packages in the current folder, beside the names of what torch imports and of the libraries of
    reinforcement learning.

    ## Why it matters
    A script in this folder imports the file in place of the module: what follows fails far from here, with a name that
    is missing or a module that is partly initialised.

    ## Likely causes
    1. A script was named after what it tries out: random.py, gymnasium.py, queue.py. Confirm: import the module in this
       folder and print its `__file__`.

    ## What to try first
    Rename the file, and remove its copy in __pycache__.

    ## When it is fine
    Where no script is started from this folder, and the folder is on nobody's path.

    ## References
    Python, *The initialization of the sys.path module search path*.
    """

    code: ClassVar[str] = "INS718"
    name: ClassVar[str] = "module-hidden"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Machine"

    def check(self, evidence: Machine) -> Iterator[Finding]:
        if evidence.hiding:
            first = evidence.hiding[0]
            more = len(evidence.hiding) - 1
            yield self.finding(
                f"{first} in this folder hides the module of that name"
                + (f", and {more} more do likewise" if more else ""),
                where=Where(file=f"{evidence.folder}/{first}"),
                seen=", ".join(evidence.hiding),
                expected="no file that is called like a module which torch or a library imports",
                help=f"rename {first}",
                confidence=0.9,
            )
