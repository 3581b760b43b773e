"""An agent has ended, and still takes part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.agent_contract import AgentContract
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class AgentStaysAfterItsEnd(Rule):
    """An agent has ended, and still takes part.

    ## What it checks
    Agents that were terminated or truncated in a step of random play, and are still in `env.agents` after it, or come
    back before the next reset.

    ## Why it matters
    The loop goes on asking for its action and storing what comes of it: rows after an end, which are learned from.
    Where all have ended and stay, a loop `while env.agents:` does not end.

    ## Likely causes
    1. `self.agents` is not changed in `step()`. Confirm: print it after the last step of an episode: it has to be
       empty.
    2. It is filled again in the middle of an episode. Confirm: look for `possible_agents` in `step()`.

    ## What to try first
    At the end of `step()`: `self.agents = [a for a in self.agents if not (terminations[a] or truncations[a])]`.

    ## When it is fine
    Never.

    ## References
    PettingZoo, *Parallel API*: `parallel_api_test`.
    """

    code: ClassVar[str] = "ENV046"
    name: ClassVar[str] = "agent-stays-after-its-end"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "AgentContract"

    def check(self, evidence: AgentContract) -> Iterator[Finding]:
        stayed = evidence.stayed or evidence.revived
        if stayed is None:
            return
        again = evidence.stayed is None
        yield self.finding(
            f"{stayed.agent} has ended, and is {'back' if again else 'still'} among the agents",
            where=evidence.where,
            seen=f"at step {stayed.step}; {stayed.times} times, where {stayed.of} were to leave"
            if not again
            else f"at step {stayed.step}; {stayed.times} times",
            expected="no longer in env.agents after the step that ended it, until the next reset()",
            help="take those that are terminated or truncated off self.agents at the end of step()",
            confidence=0.97,
        )
