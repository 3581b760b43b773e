"""The observation is the same at every step of every episode."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.worlds import name_of, number, training_streams
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ObservationStaysTheSame(Rule):
    """The observation never changes.

    ## What it checks
    Observations of several elements, in episodes of more than one step: each is equal to the one before, in all lanes
    and episodes, though rewards or lengths of episodes vary. Exact.

    ## Why it matters
    The policy cannot tell one state from another: it can only learn one action for all.

    ## Likely causes
    1. `step()` returns an array that is never written, or the observation of the reset. Confirm: print two in a row.
    2. A wrapper scales or cuts to whole numbers, so that nothing is left. Confirm: print below and above it.

    ## What to try first
    Compute the observation anew in `step()`, from the state as it is then.

    ## When it is fine
    Bandits and repeated games, in which there is nothing to see. Give those a single element, and nothing is said.

    ## References
    Seen in the wild: ENV-06 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "ENV305"
    name: ClassVar[str] = "observation-stays-the-same"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "environment"

    observations: int = 200  # that were looked at
    equal: float = 0.995  # to the one before

    def check(self, evidence: Script) -> Iterator[Finding]:
        streams = training_streams(evidence)
        looked = sum(int((each.get("obs") or {}).get("looked") or 0) for each in streams)
        if looked < self.observations:
            raise NotEnough(f"{looked} observations, needs {self.observations}")
        for stream in streams:
            obs, lengths = stream.get("obs") or {}, list(stream.get("lengths") or ())
            low, high = list(obs.get("low") or ()), list(obs.get("high") or ())
            if int(obs.get("looked") or 0) < self.observations or len(low) < 2 or low != high:
                continue
            # The first of a lane has none before it.
            if number(obs.get("repeated")) < self.equal * (1 - int(stream.get("lanes") or 1) / int(obs["looked"])):
                continue
            varied = len(set(lengths)) > 1 or int((stream.get("reward") or {}).get("distinct") or 0) > 1
            if not varied or (lengths and max(lengths) <= 1):
                continue
            yield self.finding(
                "the observation never changes",
                seen=f"all of {obs['looked']} observations of {name_of(stream)} that were looked at are equal to the "
                "one before, over several episodes",
                expected="observations that follow the state",
                help="compute the observation anew in step(), from the state as it is then",
                confidence=0.9,
            )
            return
