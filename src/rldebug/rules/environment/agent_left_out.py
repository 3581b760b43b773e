"""An agent that is there is given nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.agent_contract import AgentContract
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class AgentLeftOut(Rule):
    """An agent that is there is given nothing.

    ## What it checks
    All agents of `env.agents` act at random; `reset()` and `step()` return dicts of observations, rewards,
    terminations, truncations and infos. One that was there when the call was made is looked for in each of them.

    ## Why it matters
    A loop over the agents raises a KeyError, late and in the training code; one with `.get()` goes on with nothing: an
    agent whose last reward is missing never learns what its end was worth.

    ## Likely causes
    1. An agent is taken off `self.agents` before the dicts are made: its last step is told to nobody. Confirm: move
       that line to the end of `step()`.
    2. The dicts are made in different places, over different lists. Confirm: print their keys side by side.

    ## What to try first
    Make all five dicts over the agents that acted, then take off those that have ended.

    ## When it is fine
    Never: an agent that acted has to be told what came of it, and in its last step too.

    ## References
    PettingZoo, *Parallel API*: `parallel_api_test`.
    """

    code: ClassVar[str] = "ENV044"
    name: ClassVar[str] = "agent-left-out"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "AgentContract"

    def check(self, evidence: AgentContract) -> Iterator[Finding]:
        for each in evidence.absent[:1]:
            yield self.finding(
                f"{each.part} of {each.call} lack an agent that is there",
                where=evidence.where,
                seen=f"{each.seen} at step {each.step}; {each.times} of {each.of} times",
                expected="one entry for each agent that acted, also in its last step",
                help="make all dicts over the agents that acted, and take off those that ended afterwards",
                confidence=0.97,
            )
