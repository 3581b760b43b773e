"""No episode ends, whoever plays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_play import EnvPlay
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class NoEpisodeEnds(Rule):
    """No episode ends, whoever plays.

    ## What it checks
    Several players with nothing in common, among them a random one, each took thousands of steps after a reset, and no
    episode of any player ended. No time limit is registered, and no `TimeLimit` is in the chain.

    ## Why it matters
    Without ends there are no new starts: the agent sees one stretch of the state space, returns cannot be measured,
    and buffers wait for an end that never comes.

    ## Likely causes
    1. The terminal condition cannot be met: a wrong sign, `and` for `or`, a comparison with the wrong variable.
       Confirm: put the environment into a state that should end it.
    2. The flag is computed, but not returned. Confirm: the last line of `step()`.
    3. The time limit is left to the training script, or was taken off with the wrappers. Confirm: print the
       environment; there should be a `TimeLimit` in the chain.

    ## What to try first
    Wrap it in `gymnasium.wrappers.TimeLimit`, or register it with `max_episode_steps`.

    ## When it is fine
    A continuing task that your script cuts off by itself.

    ## References
    Pardo et al., *Time Limits in Reinforcement Learning*.
    """

    code: ClassVar[str] = "ENV036"
    name: ClassVar[str] = "no-episode-ends"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "EnvPlay"

    steps: int = 4000  # after a reset, of each player
    players: int = 3  # that went on for so long

    def check(self, evidence: EnvPlay) -> Iterator[Finding]:
        if evidence.episodes or evidence.time_limit is not None:
            return
        long = [each for each in evidence.plays if each.longest >= self.steps]
        if len(long) < self.players or not any(each.kind == "random" for each in long):
            raise NotEnough(
                f"{len(long)} players took {self.steps} steps in one go, needs {self.players} and the random one"
            )
        most = max(each.longest for each in long)
        yield self.finding(
            "no episode ends",
            seen=f"{len(long)} players took up to {most} steps after a reset, and none saw terminated or truncated",
            expected="an end that can be reached, or a time limit",
            help="check the terminal condition; add a time limit with gymnasium.wrappers.TimeLimit",
            confidence=0.75,
        )
