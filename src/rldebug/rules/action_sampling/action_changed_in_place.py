"""step() changes the action array it is given."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_contract import EnvContract
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ActionChangedInPlace(Rule):
    """step() changes the action array it is given.

    ## What it checks
    The action is compared before and after `step()`.

    ## Why it matters
    The array belongs to the caller: what is stored in the buffer afterwards is not the action that the policy took, and
    its log-probability belongs to another one.

    ## Likely causes
    1. `action *= self.max_force`, `action += noise` or `np.clip(action, …, out=action)`. Confirm: search for `*=`, `+=`
       and `out=` in `step()`.
    2. A wrapper rescales in place. Confirm: call `step()` of the environment below it.

    ## What to try first
    Write `action = action * self.max_force`: it makes a new array.

    ## When it is fine
    Every caller hands over a copy.

    ## References
    Gymnasium, *Make your own custom environment*.
    """

    code: ClassVar[str] = "ACT004"
    name: ClassVar[str] = "action-changed-in-place"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "EnvContract"

    def check(self, evidence: EnvContract) -> Iterator[Finding]:
        misfit = evidence.mutated
        if misfit is None:
            return
        yield self.finding(
            "step() changes the action it is given",
            where=evidence.where,
            seen=f"{misfit.seen}; {misfit.times} of {misfit.of} actions",
            expected="an action that is the same after step()",
            help="do not write to action in step(): action = action * scale makes a new array",
            confidence=0.97,
        )
