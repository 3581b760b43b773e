"""The list of all agents that may ever take part changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.agent_contract import AgentContract
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class PossibleAgentsChange(Rule):
    """The list of all agents that may ever take part changes.

    ## What it checks
    `env.possible_agents` before the first reset, and after every reset and step of random play; and whether all of
    `env.agents` are in it.

    ## Why it matters
    Networks, buffers and vectors of environments are laid out by it. Where it shrinks, `reset()` starts the next
    episode without those who lost the last one, and rows move to the place of another agent.

    ## Likely causes
    1. `self.agents = self.possible_agents` makes one list of two names: who is removed from one is gone from the
       other. Confirm: `env.agents is env.possible_agents`.
    2. Agents are named anew for each episode. Confirm: print `env.agents` after two resets.

    ## What to try first
    `self.agents = self.possible_agents[:]` in `reset()`.

    ## When it is fine
    Never: who is not there at first belongs into `possible_agents` all the same.

    ## References
    PettingZoo, *Parallel API*: `parallel_api_test`.
    """

    code: ClassVar[str] = "ENV047"
    name: ClassVar[str] = "possible-agents-change"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "AgentContract"

    def check(self, evidence: AgentContract) -> Iterator[Finding]:
        if evidence.possible is not None:
            first, later = evidence.possible
            yield self.finding(
                "possible_agents shrinks while the game is played",
                where=evidence.where,
                seen=f"{first} agents at first, {later} later",
                expected="the same agents for ever, whoever has left the game",
                help="copy the list in reset(): self.agents = self.possible_agents[:]",
                confidence=0.98,
            )
        elif evidence.unknown:
            yield self.finding(
                "an agent takes part that is not among possible_agents",
                where=evidence.where,
                seen=", ".join(evidence.unknown[:4]),
                expected=f"one of {', '.join(evidence.agents[:8])}",
                help="name all that may ever take part in possible_agents",
                confidence=0.97,
            )
