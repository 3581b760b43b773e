"""A simulator is installed and does not step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.machine import Machine
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class SimulatorDoesNotStart(Rule):
    """A simulator is installed and does not step.

    ## What it checks
    MuJoCo steps a ball and Box2D a lander, each in a process of its own, where they are installed.

    ## Why it matters
    None of its environments can be used.

    ## Likely causes
    1. It was compiled for another Python or NumPy. Confirm: the message names a symbol or a missing attribute.
    2. A library of the system is missing, or older than it asks for. Confirm: the message names GLIBC or a file that
       ends in .so.

    ## What to try first
    Install it anew: gymnasium[mujoco] or gymnasium[box2d].

    ## When it is fine
    Where none of its environments is used.

    ## References
    Gymnasium, *MuJoCo* and *Box2D*.
    """

    code: ClassVar[str] = "INS716"
    name: ClassVar[str] = "simulator-does-not-start"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Machine"
    follows: ClassVar[tuple[str, ...]] = (
        "INS708",
        "INS709",
        "INS710",
    )

    def check(self, evidence: Machine) -> Iterator[Finding]:
        for name, title, extra in (("mujoco", "MuJoCo", "mujoco"), ("box2d", "Box2D", "box2d")):
            trial = evidence.trial(name)
            if trial is None or not trial.failed:
                continue
            yield self.finding(
                f"the simulator {title} is installed, and does not make a step",
                seen=trial.ending,
                expected="one step",
                help=f"pip install --force-reinstall 'gymnasium[{extra}]'",
                confidence=0.9,
            )
