"""Every episode ends with its first step, though actions move the state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_play import EnvPlay
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class OneStepEpisodes(Rule):
    """Every episode ends with its first step, though actions move the state.

    ## What it checks
    Every episode of every player terminated after one step; the observation that comes with it depends on the action,
    or the registered time limit is longer. A task of a single decision has no use for a state that moves.

    ## Why it matters
    With one step per episode there is no future: values are rewards, and the discount never matters.

    ## Likely causes
    1. The flag is inverted: true while all is well. Confirm: print the state and the flag of the first step.
    2. The terminal condition is met in the starting state (a bound of 0, the wrong unit). Confirm: print the state
       that `reset()` makes beside the bounds it is compared with.
    3. The flags are returned in the wrong order. Confirm: obs, reward, terminated, truncated, info.

    ## What to try first
    Print what the terminal condition compares, for the first step after a reset.

    ## When it is fine
    Bandits, and other tasks of a single decision.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (episode length distribution).
    """

    code: ClassVar[str] = "ENV037"
    name: ClassVar[str] = "one-step-episodes"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "EnvPlay"

    episodes: int = 30  # of all players

    def check(self, evidence: EnvPlay) -> Iterator[Finding]:
        if evidence.episodes < self.episodes:
            raise NotEnough(f"{evidence.episodes} episodes, needs {self.episodes}")
        if max(evidence.lengths) > 1 or evidence.time_limit == 1 or any(each.truncated for each in evidence.plays):
            return
        moves = (
            evidence.twins.repeatable and evidence.twins.pairs > 0 and evidence.twins.obs_differ == evidence.twins.pairs
        )
        if not moves and evidence.time_limit is None:
            return
        yield self.finding(
            "every episode ends with its first step",
            seen=f"{evidence.episodes} episodes of {len(evidence.plays)} players, all terminated after 1 step"
            + (f"; the time limit is {evidence.time_limit}" if evidence.time_limit else "")
            + ("; another action leads to another observation" if moves else ""),
            expected="episodes of several steps where actions move the state",
            help="print what the terminal condition compares after the first step: it may be inverted",
            confidence=0.9 if evidence.time_limit else 0.75,
        )
