"""Actions outside of the declared space have an effect of their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_contract import EnvContract
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ForbiddenActionObeyed(Rule):
    """Actions outside of the declared space have an effect of their own.

    ## What it checks
    From one seeded state: a discrete action one beyond the last does what no other does; a continuous action at three
    times its bound leads to other observations than the bound itself.

    ## Why it matters
    A policy that does not clip, as most Gaussian ones, gets stronger than it is meant to be: it learns to leave the
    bounds, and what it learned fails where they are enforced.

    ## Likely causes
    1. `step()` does not clip. Confirm: look for `np.clip` in `step()`.
    2. The number of the action is reckoned with, as a position or a step: one more is one further. Confirm:
       play `action_space.n`.

    ## What to try first
    Clip continuous actions at their bounds in `step()`, and raise for discrete ones that do not exist.

    ## When it is fine
    Everything that acts keeps to the space.

    ## References
    Gymnasium, *Make your own custom environment*.
    """

    code: ClassVar[str] = "ACT006"
    name: ClassVar[str] = "forbidden-action-obeyed"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "EnvContract"

    def check(self, evidence: EnvContract) -> Iterator[Finding]:
        if not evidence.accepted_of:
            raise NotEnough("no action outside of the space could be tried")
        if evidence.accepted:
            yield self.finding(
                "actions outside of the action space have an effect",
                where=evidence.where,
                seen=f"{', '.join(evidence.accepted[:3])} accepted, where the space is {evidence.action_space}",
                expected="an exception, or the effect of the bound",
                help="clip the action in step(), or raise where it is not in action_space",
                confidence=0.8,
            )
