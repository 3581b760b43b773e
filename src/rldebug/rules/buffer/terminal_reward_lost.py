"""The reward of the last step is not the one in the target."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.targets import fit_targets
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TerminalRewardLost(Rule):
    """The reward of the last step is not the one in the target.

    ## What it checks
    The formula of the targets is known from steps within episodes. Where the environment said terminated, the target
    should be the reward alone. It is 0, or a reward as steps within episodes have it, and not the one that was paid; or
    it is the opposite of that one, which is what the other player got in a game of two.

    ## Why it matters
    What an episode ends with is often all that there is to win or to lose.

    ## Likely causes
    1. The mask for the bootstrap is put on the reward too. Confirm: print the target of a terminated step.
    2. The reward is stored one step late, or before the step is taken. Confirm: print reward and flag side by side.
    3. In a game, the rewards of all players come in one list, and that of another is stored. Confirm: print the list
       and what is stored, at the end of a game.

    ## What to try first
    `reward + gamma * (1 - terminated) * value`, with the mask on the value alone.

    ## When it is fine
    Never.

    ## References
    Seen in the wild: RWD-08 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "BUF353"
    name: ClassVar[str] = "terminal-reward-lost"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "rows"

    rows: int = 6  # terminated steps

    def check(self, evidence: Script) -> Iterator[Finding]:
        fits = [each for each in fit_targets(evidence) if each.what in ("q", "value")]
        if not fits:
            raise NotEnough("the formula of no target was found")
        for fit in fits:
            opposed = fit.ending("terminated", "opposed")
            if opposed is not None and opposed.audits >= 2 and not fit.mistake:
                yield self.finding(
                    "terminated steps are learned with the opposite of their reward",
                    where=fit.where,
                    seen=f"in {opposed.hit} of {opposed.rows} terminated steps with a reward the target is minus that "
                    "reward: in a game of two, what the other player gets",
                    expected="the reward of the player whose step it is",
                    help="take the reward of the player who learns out of the list of all players",
                    confidence=0.95,
                )
            ended = fit.ending("terminated", "lost")
            if ended is not None and ended.audits >= 2 and ended.hit >= self.rows and not fit.mistake:
                yield self.finding(
                    "the reward of terminated steps is not in their targets",
                    where=fit.where,
                    seen=f"in {ended.hit} of {ended.rows} terminated steps that were paid the target is 0, "
                    "or the reward of other steps",
                    expected="the reward that the last step was paid",
                    help="mask the bootstrap alone, and store the reward with the step that earned it",
                    confidence=0.93,
                )
