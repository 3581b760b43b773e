"""A space is another one whenever it is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.agent_contract import AgentContract
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class SpaceMadeAnew(Rule):
    """A space is another one whenever it is asked for.

    ## What it checks
    `observation_space(agent)` and `action_space(agent)`, asked twice each: the same object has to come back.

    ## Why it matters
    `env.action_space(agent).seed(0)` seeds a space that is thrown away: random actions, and with them warm-ups and
    baselines, cannot be repeated. Wrappers that compare spaces, and PettingZoo's own test, refuse such an environment.

    ## Likely causes
    1. The method builds a space and returns it. Confirm: `env.action_space(a) is env.action_space(a)`.

    ## What to try first
    `@functools.lru_cache(maxsize=None)` over both methods, or dicts of spaces made in `__init__`.

    ## When it is fine
    Nobody draws random actions from it, and no wrapper is used.

    ## References
    PettingZoo, *Parallel API*: `parallel_api_test`.
    """

    code: ClassVar[str] = "ENV048"
    name: ClassVar[str] = "space-made-anew"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "AgentContract"

    def check(self, evidence: AgentContract) -> Iterator[Finding]:
        for each in sorted(evidence.spaces, key=lambda each: each.lenient)[:1]:
            other = "" if each.lenient else ", and not an equal one"
            yield self.finding(
                f"{each.part} is another one each time{other}",
                where=evidence.where,
                seen=f"{each.seen}; so are {len(evidence.spaces)} of {each.of} spaces",
                expected="the same object, as long as the environment lives",
                help="make spaces once, in __init__, or put functools.lru_cache over the methods",
                confidence=0.9,
                severity="warning" if each.lenient else "error",
            )
