"""Every ending is flagged as terminated and as truncated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.run import Run
from rldebug.evidence.together import together
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class DoneHandedOverTwice(Rule):
    """Every ending is flagged as terminated and as truncated.

    ## What it checks
    In the rollouts handed over, every step that ends an episode carries both flags. An episode ends in one way; both at
    once is a coincidence of a time limit and a terminal state, and rare.

    ## Why it matters
    One array stands for two things. Whatever reads it next bootstraps where it must not, or does not where it must.

    ## Likely causes
    1. `done = terminated or truncated` is stored in both places. Confirm: the two arguments of the call are one
       variable.
    2. The environment itself returns the same flag twice. Confirm: print both where `env.step()` returns.

    ## What to try first
    Store what `env.step()` returns, each flag on its own.

    ## When it is fine
    Never, over many endings.

    ## References
    Gymnasium documentation, *Handling Time Limits*. ikostrikov/pytorch-a2c-ppo-acktr-gail commit 14f3ac1.
    """

    code: ClassVar[str] = "DIS007"
    name: ClassVar[str] = "done-handed-over-twice"
    severity: ClassVar[Severity] = "warning"
    needs: ClassVar[tuple[str, ...]] = ("rollout/ends_both", "rollout/terminated", "rollout/steps")

    endings: int = 10  # in the rollouts looked at
    all: float = 0.99  # share of the endings that carry both flags

    def check(self, evidence: Run) -> Iterator[Finding]:
        both, terminated, steps = together(evidence, "rollout/ends_both", "rollout/terminated", "rollout/steps")
        endings = terminated.value * steps.value
        if endings.sum() < self.endings:
            if len(both) and both.min() < self.all:
                return
            raise NotEnough(f"{int(endings.sum())} endings in the rollouts looked at, needs {self.endings}")
        if float((both.value * endings).sum() / endings.sum()) < self.all or both.min() < self.all:
            return
        yield self.finding(
            "every ending is handed over as terminated and as truncated",
            where=evidence.call("rollout"),
            seen=f"both flags on all of about {endings.sum():.0f} endings in {len(both)} rollouts",
            expected="one flag per ending: terminated, or truncated",
            help="hand over the two flags that env.step() returns, not their union twice",
            confidence=0.95,
        )
