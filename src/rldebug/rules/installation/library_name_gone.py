"""The program uses a name that this version of a library lacks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule

_LIBRARIES = (
    "numpy",
    "torch",
    "gymnasium",
    "gym",
    "scipy",
    "stable_baselines3",
    "sb3_contrib",
    "torchrl",
    "tensordict",
    "tianshou",
    "ray",
    "pettingzoo",
    "ale_py",
    "mujoco",
    "PIL",
    "cv2",
    "wandb",
)


@dataclass(frozen=True, kw_only=True)
class LibraryNameGone(Rule):
    """The program uses a name that this version of a library lacks.

    ## What it checks
    A name was not found in a module of an installed library.

    ## Why it matters
    The program was written for another version of it.

    ## Likely causes
    1. The name was removed or moved: `np.bool8`, `np.float`, `gym.logger.set_level`. Confirm: look it up in the notes
       of the release.
    2. A file of your own bears the library's name and hides it. Confirm: print the module's `__file__`.

    ## What to try first
    Print the version of the library that the message names, and look for the name in its notes.

    ## When it is fine
    Never: the program has ended.

    ## References
    NumPy 2.0, *Migration guide*.
    """

    code: ClassVar[str] = "INS402"
    name: ClassVar[str] = "library-name-gone"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        named = re.search(
            r"module '(\w+)[\w.]*' has no attribute|cannot import name '\w+' from '(\w+)", evidence.message
        )
        return named is not None and (named[1] or named[2]) in _LIBRARIES

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        yield self.finding(
            "a name was not found in an installed library",
            where=evidence.where,
            seen=evidence.said,
            expected="a version of the library that has it",
            help="look the name up in the library's notes, or install the version the program was written for",
            confidence=0.9,
        )
