"""An optimizer is cleared in every update, and never steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ClearedAndNeverStepped(Rule):
    """An optimizer is cleared in every update, and never steps.

    ## What it checks
    `zero_grad()` of an optimizer is called again and again, while others step; its own `step()` never is.

    ## Why it matters
    What it holds, a network or a temperature, stays as it was made.

    ## Likely causes
    1. The line with its `step()` is missing, or steps another optimizer. Confirm: search for `.step()`.

    ## What to try first
    `zero_grad()`, `backward()` and `step()` of the same optimizer, one after the other.

    ## When it is fine
    An optimizer that is kept to clear gradients, while the step is written by hand.

    ## References
    PyTorch documentation, *torch.optim*.
    """

    code: ClassVar[str] = "OPT350"
    name: ClassVar[str] = "cleared-and-never-stepped"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    zeros: int = 20  # times that it was cleared
    steps: int = 20  # of another one

    def check(self, evidence: Script) -> Iterator[Finding]:
        most = max((int(each.get("steps") or 0) for each in evidence.optimizers.values()), default=0)
        if most < self.steps:
            raise NotEnough(f"{most} steps of an optimizer, needs {self.steps}")
        moved = {str(event["module"]) for _, event in evidence.events("weights") if event.get("by_hand")}
        for name, each in evidence.optimizers.items():
            zeros = int(each.get("zeros") or 0)
            if int(each.get("steps") or 0) or zeros < self.zeros or moved & set(each.get("modules") or ()):
                continue
            others = [one for other, one in evidence.optimizers.items() if other != name]
            if any(set(one.get("modules") or ()) & set(each.get("modules") or ()) for one in others):
                continue  # what it holds is stepped by another
            line = each.get("created")
            yield self.finding(
                f"the optimizer {name} is cleared and never steps",
                where=Where(file=line[0], line=line[1]) if line else Where(),
                seen=f"zero_grad() {zeros} times, step() never; another optimizer stepped {most} times",
                expected="a step after each backward pass",
                help=f"call {name}.step() after its backward()",
                confidence=0.93,
            )
