"""Doing always the same is already as good as solved."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_play import EnvPlay
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ConstantActionSolves(Rule):
    """Doing always the same is already as good as solved.

    ## What it checks
    A player that always takes the same action reaches the return that is registered as solved, or that of the cheat,
    which knows the best action.

    ## Why it matters
    An agent that has learned nothing but its most frequent action would pass as trained: the score does not show that
    it looks at what it sees.

    ## Likely causes
    1. The threshold is too low, or of another version of the task. Confirm: compare it with the random baseline.
    2. The reward pays for something that needs no decision: staying alive where nothing endangers. Confirm: print the
       terms of the reward under that action.
    3. The start is so close to the goal that one move always leads there. Confirm: print the starting states.

    ## What to try first
    Compare any trained agent with this player, not with the random one.

    ## When it is fine
    A first test of a program, where a constant policy is the answer.

    ## References
    Henderson et al., *Deep Reinforcement Learning that Matters* (baselines).
    """

    code: ClassVar[str] = "EVA002"
    name: ClassVar[str] = "constant-action-solves"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "EnvPlay"

    episodes: int = 10  # of the constant player

    def check(self, evidence: EnvPlay) -> Iterator[Finding]:
        best, drawn, knows = evidence.best_constant, evidence.play("random"), evidence.play("cheat")
        if best is None or best.episodes < self.episodes:
            raise NotEnough(f"needs {self.episodes} episodes of a constant player")
        if evidence.actions <= 1 or max(evidence.lengths) <= 1:
            return
        solved = evidence.reward_threshold is not None and best.interval[0] >= evidence.reward_threshold
        as_cheat = (
            knows is not None
            and drawn is not None
            and min(knows.episodes, drawn.episodes) >= self.episodes
            and best.mean >= knows.mean
            and drawn.interval[1] < best.mean  # else nothing can be told apart here
        )
        if not solved and not as_cheat:
            return
        bar = f"the registered threshold is {evidence.reward_threshold:.4g}" if solved else ""
        if as_cheat and knows is not None:
            bar += ("; " if bar else "") + f"the cheat has {knows.mean:.4g}"
        yield self.finding(
            f"the player {best.agent!r} is as good as solved",
            seen=f"{best.agent}: {best.mean:.4g} over {best.episodes} episodes; {bar}",
            expected="what counts as solved needs more than one action",
            help="raise the threshold above what a constant action reaches, or look at what the reward pays for",
            confidence=0.85 if solved else 0.7,
        )
