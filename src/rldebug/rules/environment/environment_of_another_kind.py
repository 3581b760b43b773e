"""What is given is no environment of Gymnasium."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.bound import class_named
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class EnvironmentOfAnotherKind(Rule):
    """What is given is no environment of Gymnasium.

    ## What it checks
    Gymnasium was given an environment that does not inherit from `gymnasium.Env`.

    ## Why it matters
    Wrappers and vectors rely on what the class gives: spaces, seeding, `unwrapped`.

    ## Likely causes
    1. The class inherits from `gym.Env`, the old package. Confirm: look at its import.
    2. It inherits from nothing. Confirm: look at the `class` line.
    3. A function, a class or a list is given in place of an environment. Confirm: print its type.

    ## What to try first
    Write `import gymnasium as gym` and `class MyEnv(gym.Env)`.

    ## When it is fine
    Never: the program has ended.

    ## References
    Gymnasium, *Create a custom environment*; Shimmy, *Gym compatibility*.
    """

    code: ClassVar[str] = "ENV445"
    name: ClassVar[str] = "environment-of-another-kind"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(
            r"Expected env to be a `gymnasium\.Env` but got",
            "must inherit from the gymnasium.Env class",
            "Gym is incompatible with Gymnasium",
            "Your environment must inherit from the gymnasium.Env class",
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        named = re.search(r"<class '(?:[\w.<>]*\.)?(\w+)'>", evidence.message)
        kind = named[1] if named else "that was given"
        defined = class_named(evidence, kind)
        home = f"; {kind} is defined at {Path(defined[0]).name}:{defined[1].lineno}" if defined else ""
        yield self.finding(
            f"the class {kind} is no environment of Gymnasium",
            where=evidence.where,
            seen=f"{evidence.said}{home}",
            expected="a class that inherits from gymnasium.Env",
            help=f"write import gymnasium as gym, and class {kind}(gym.Env); wrap one of old gym that is not yours: "
            'gymnasium.make("GymV21Environment-v0", env=…) with shimmy',
            confidence=0.95,
        )
