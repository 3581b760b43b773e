"""Two instances of the environment influence one another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_contract import EnvContract
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class InstancesShareState(Rule):
    """Two instances of the environment influence one another.

    ## What it checks
    One instance is played alone, and again while a second one is reset and stepped in turns with it, or after another
    one, with the same seed and actions. The two trajectories must be the same.

    ## Why it matters
    In a vector of environments each step of one moves the others: transitions that no policy caused, and episodes that
    end for no reason.

    ## Likely causes
    1. A list or array is an attribute of the class and is changed in place. Confirm: look for it above `__init__`; give
       it to each instance in `reset()`.
    2. A default argument is a list, dictionary or array: it is made once, and shared. Confirm: look at the defaults of
       `__init__`.
    3. The simulator is a global of the module. Confirm: look for it at the top of the file.

    ## What to try first
    Create all state in `__init__` or `reset()`, on `self`.

    ## When it is fine
    A simulator that can exist only once per process. Then each environment needs a process of its own.

    ## References
    Stable-Baselines3 issue 649. Gymnasium pull request 1623.
    """

    code: ClassVar[str] = "ENV018"
    name: ClassVar[str] = "instances-share-state"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "EnvContract"

    def check(self, evidence: EnvContract) -> Iterator[Finding]:
        seeding = evidence.seeding
        if seeding is None:
            raise NotEnough("it could not be played twice")
        apart = seeding.neighbour
        if apart is None:
            return
        by = f"; {seeding.shared} is theirs in common" if seeding.shared else ""
        yield self.finding(
            "two instances influence one another",
            where=evidence.where,
            seen=f"{apart.part} at step {apart.step} is {apart.one} alone and {apart.other} beside "
            f"another instance{by}",
            expected="the same trajectory, whatever other instances do",
            help=f"move {seeding.shared} into the instance"
            if seeding.shared
            else "create all state on self, in reset()",
            confidence=0.95 if not apart.rounding else 0.5,
            severity="error" if not apart.rounding else "note",
        )
