"""The observation stays the same through a whole episode."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_play import EnvPlay
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ObservationNeverChanges(Rule):
    """The observation stays the same through a whole episode.

    ## What it checks
    At no step of any player did the observation differ from the one before, though its space has more than one value,
    episodes are longer than one step, and rewards or ends show that something happens.

    ## Why it matters
    An agent that always sees the same cannot do one thing here and another there: it can only learn one action.

    ## Likely causes
    1. `step()` returns the observation that was made in `reset()`. Confirm: print the observation of the first three
       steps.
    2. The observation is made before the state is advanced, from a copy. Confirm: the order of lines in `step()`.
    3. A wrapper caches, or rounds everything to the same value. Confirm: compare `env.unwrapped`'s observation with
       it.

    ## What to try first
    Print the observation of the first three steps beside the state it should show.

    ## When it is fine
    Bandits: the same choice again and again. Declare a space with a single value, and this stays quiet.

    ## References
    Andrychowicz et al., *What Matters in On-Policy Reinforcement Learning?* (observations).
    """

    code: ClassVar[str] = "ENV032"
    name: ClassVar[str] = "observation-never-changes"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "EnvPlay"
    follows: ClassVar[tuple[str, ...]] = ("ENV031",)

    steps: int = 100  # compared with the one before

    def check(self, evidence: EnvPlay) -> Iterator[Finding]:
        if evidence.obs_compared < self.steps:
            raise NotEnough(f"{evidence.obs_compared} steps, needs {self.steps}")
        if evidence.obs_changed or not evidence.obs_can_vary or max(evidence.lengths, default=2) <= 1:
            return
        alive = evidence.rewards.distinct > 1 or len(set(evidence.lengths)) > 1
        yield self.finding(
            "the observation never changes during an episode",
            seen=f"the same at all {evidence.obs_compared} steps; its space is {evidence.observation_space}",
            expected="observations that show what has changed",
            help="make the observation anew at the end of step(), from the state after the action",
            confidence=0.9 if alive else 0.7,
        )
