"""An agent is gone, and no flag said that it would be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.agent_contract import AgentContract
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class AgentLeavesUnsaid(Rule):
    """An agent is gone, and no flag said that it would be.

    ## What it checks
    After every step of random play `env.agents` is compared with the agents that acted: one that is no longer there
    has to be terminated or truncated in what that step returned.

    ## Why it matters
    Flags are what a learner has to go by. Without one its last step looks like any other, and is bootstrapped from an
    observation of the next episode; or the loop waits for an agent that never comes back.

    ## Likely causes
    1. The flag is set in the step after the one in which it leaves. Confirm: print `terminations` and `env.agents` of
       both.
    2. The game ends for all, and flags are set for those alone who lost. Confirm: print the flags of the last step.

    ## What to try first
    Take off exactly those whose `terminations` or `truncations` are True in this step.

    ## When it is fine
    Never.

    ## References
    PettingZoo, *Parallel API*: `parallel_api_test`.
    """

    code: ClassVar[str] = "ENV045"
    name: ClassVar[str] = "agent-leaves-unsaid"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "AgentContract"
    follows: ClassVar[tuple[str, ...]] = ("ENV044",)

    def check(self, evidence: AgentContract) -> Iterator[Finding]:
        left = evidence.unsaid
        if left is not None:
            yield self.finding(
                f"{left.agent} is no longer among the agents, and no flag says so",
                where=evidence.where,
                seen=f"{left.said} at step {left.step}, and gone after it; {left.times} times",
                expected="terminated or truncated in the last step of each agent",
                help="take off exactly the agents whose terminations or truncations are True in this step",
                confidence=0.97,
            )
