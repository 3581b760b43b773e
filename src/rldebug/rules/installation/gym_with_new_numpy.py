"""Gym is installed with a NumPy that it cannot work with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.machine import Machine
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class GymWithNewNumpy(Rule):
    """Gym is installed with a NumPy that it cannot work with.

    ## What it checks
    Whether gym, which is no longer maintained, is installed beside NumPy 2 or newer.

    ## Why it matters
    Its checker uses `np.bool8`, which NumPy 2 has not: the first step of an environment raises.

    ## Likely causes
    1. A program of the time of gym was installed anew. Confirm: look for `import gym` in it.
    2. Another package has brought gym along. Confirm: `pip show gym` names it, as required by.

    ## What to try first
    Write `import gymnasium as gym`, and take reset() and step() as Gymnasium defines them.

    ## When it is fine
    Where gym is installed and nothing that you run imports it.

    ## References
    Gymnasium, *Migration guide: gym v0.21 to Gymnasium*; NumPy 2.0, *Migration guide*.
    """

    code: ClassVar[str] = "INS711"
    name: ClassVar[str] = "gym-with-new-numpy"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Machine"

    def check(self, evidence: Machine) -> Iterator[Finding]:
        gym, numpy = evidence.package("gym"), evidence.package("numpy")
        if gym is None or numpy is None or evidence.version("numpy") < (2,):
            return
        yield self.finding(
            "gym cannot step its environments with this NumPy",
            seen=f"gym {gym.version}, NumPy {numpy.version}",
            expected="gymnasium, or NumPy below 2",
            help="write `import gymnasium as gym` in the program; for old code that must stay: pip install 'numpy<2'",
            confidence=0.85,
        )
