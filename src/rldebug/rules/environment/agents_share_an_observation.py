"""Two agents are handed one array."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.agent_contract import AgentContract
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class AgentsShareAnObservation(Rule):
    """Two agents are handed one array.

    ## What it checks
    The arrays that different agents are given in the same step: whether they lie in the same memory, in every step.

    ## Why it matters
    Where one array is filled for one agent after the other, all of them see what the last one sees. And what is done
    to one observation in place, such as scaling, is done to the others too, once for each agent.

    ## Likely causes
    1. One buffer is filled in a loop over agents, and not copied. Confirm: `obs[a] is obs[b]`, and print both.
    2. All see the whole state, and are given it without a copy. Confirm: compare with what is meant to be seen.

    ## What to try first
    `.copy()` where the dict of observations is made.

    ## When it is fine
    All agents are meant to see the same, and nobody changes observations in place.

    ## References
    PettingZoo, *Parallel API*.
    """

    code: ClassVar[str] = "ENV049"
    name: ClassVar[str] = "agents-share-an-observation"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "AgentContract"

    def check(self, evidence: AgentContract) -> Iterator[Finding]:
        if evidence.one_array is None:
            return
        if not evidence.steps:
            raise NotEnough("no step was played")
        one, other = evidence.one_array
        yield self.finding(
            f"{one} and {other} are handed the same array",
            where=evidence.where,
            seen=f"the same memory in each of {evidence.steps} steps",
            expected="an array of its own for each agent",
            help="copy the array when the dict of observations is made",
            confidence=0.6,
        )
