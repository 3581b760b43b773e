"""Goals are exchanged in hindsight, and the rewards are not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.goal_rows import Paid, paid_in_hindsight
from rldebug.forensics.goals import hindsight
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ExchangedGoalsNeverReached(Rule):
    """Goals are exchanged in hindsight, and the rewards are not.

    ## What it checks
    A part of the input stays the same from each row of a batch to its next row and differs between rows: a goal. There
    are more goals in one batch than there were episodes, so goals were exchanged in hindsight. The rewards in the
    targets are read back from their numbers. The reward for reaching a goal is next to never among them. Where steps
    of the environment show what is held against the goal, the same is asked of each row that reaches its new goal.

    ## Why it matters
    The point of an exchanged goal is that it was reached. Without its reward the row says that it was not.

    ## Likely causes
    1. The reward is copied from the step, not computed anew for the new goal. Confirm: print the rewards of exchanged
       rows.
    2. It is computed for the goal before the exchange. Confirm: look at what the function that computes it is given.
    3. It is computed from where the step began, not from where it led. Confirm: the same.

    ## What to try first
    `reward = compute_reward(achieved_next, new_goal)` wherever a goal is exchanged.

    ## When it is fine
    Where goals are drawn anew at random, from none that was reached.

    ## References
    Andrychowicz et al. 2017, *Hindsight Experience Replay*.
    """

    code: ClassVar[str] = "BUF352"
    name: ClassVar[str] = "exchanged-goals-never-reached"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    rows: int = 12  # that should be paid at least

    def check(self, evidence: Script) -> Iterator[Finding]:
        paid = paid_in_hindsight(evidence)
        if paid is not None and paid.audits >= 2 and self._unpaid(paid):
            yield self._of_rows(paid)
            return
        seen = hindsight(evidence)
        if seen is None:
            if paid is not None and paid.reached >= self.rows:  # all of them paid
                return
            raise NotEnough("no goals that were exchanged were seen")
        least = seen.rows * 0.4 / seen.length  # the last step of each episode, in less than half of the rows
        if least < self.rows:
            raise NotEnough(f"{seen.rows} rows with exchanged goals are too few")
        if seen.reached < 0.7 * least and seen.reached <= 2.0 * seen.usual * seen.rows + 2:
            goals, episodes = seen.goals
            yield self.finding(
                "goals are exchanged in hindsight, and their reward is never paid",
                where=seen.term.where,
                seen=f"up to {goals} goals in a batch after {episodes} episodes, and the reward {seen.reward + 0.0:g} "
                f"in {seen.reached} of {seen.rows} rows",
                expected=f"it in {least:.0f} rows or more: goals that were reached",
                help="compute the reward anew for the new goal, from what the step led to",
                confidence=0.9,
            )

    def _unpaid(self, paid: Paid) -> bool:
        return paid.unpaid >= self.rows and paid.unpaid > 0.1 * paid.reached

    def _of_rows(self, paid: Paid) -> Finding:
        also = f"; and in {paid.overpaid} of {paid.missed} whose step does not" if paid.overpaid >= self.rows else ""
        return self.finding(
            "goals are exchanged in hindsight, and their reward is not",
            where=paid.term.where,
            seen=f"the reward {paid.reward + 0.0:g} in {paid.reached - paid.unpaid} of {paid.reached} rows whose step "
            f"reaches the new goal{also}",
            expected="it in all of them, as the environment pays it",
            help="compute the reward anew for the new goal, from what the step led to",
            confidence=0.95,
        )
