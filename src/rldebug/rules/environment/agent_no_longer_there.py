"""An agent is asked for that has left the game."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class AgentNoLongerThere(Rule):
    """An agent is asked for that has left the game.

    ## What it checks
    A dict with one entry for each agent was asked for one that it does not hold; or a dead agent was given an action.

    ## Why it matters
    In multi-agent games agents leave one by one. `env.agents` is who is left, `env.possible_agents` who may ever be
    there.

    ## Likely causes
    1. A loop goes over `possible_agents`, or over the agents of the first step. Confirm: print `env.agents` in the
       step.
    2. An agent's last step is not handled: it must be given None. Confirm: print its termination.
    3. The game is over for all, and was not reset. Confirm: `env.agents` is empty.

    ## What to try first
    Go over `env.agents` in each step, and over the keys of what `step()` returned.

    ## When it is fine
    Never: the program has ended.

    ## References
    PettingZoo, *Parallel API* and *AEC API*.
    """

    code: ClassVar[str] = "ENV446"
    name: ClassVar[str] = "agent-no-longer-there"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        if evidence.says("when an agent is dead, the only valid action is None"):
            return True
        key = evidence.message.strip("'\"")
        return evidence.is_a("KeyError") and any(
            key in fact.get("agents", ()) for _, _, fact in evidence.held("environment")
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        dead = "dead" in evidence.message
        agent = evidence.message.strip("'\"")
        held = [(name, fact["keys"]) for name, fact in evidence.operands().items() if fact.get("type") == "dict"]
        name, keys = held[0] if len(held) == 1 else ("what step() returned", [])
        yield self.finding(
            "an agent that is dead was given an action" if dead else f"the agent {agent} is not in {name}",
            where=evidence.where,
            seen=evidence.said + (f"; {name} holds {', '.join(keys) or 'nobody'}" if held else ""),
            expected="the agents that are still in the game",
            help="give None to an agent whose termination or truncation is True"
            if dead
            else "go over env.agents in each step, not over possible_agents; reset() when it is empty",
            confidence=0.9,
        )
