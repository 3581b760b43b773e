"""Random actions are drawn from all but one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.exploring import discrete, steps_of
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ActionNeverRandom(Rule):
    """Random actions are drawn from all but one.

    ## What it checks
    The steps for which no network was asked: one action is not among them, the others come about equally often. By
    chance that would not happen. The network itself does choose the missing action, so that it is allowed.

    ## Why it matters
    What that action leads to is seen only where the network likes it already. Where it does not, it is never tried.

    ## Likely causes
    1. `randrange(n - 1)`, `randint(0, n - 1)` of numpy or torch, whose end is left out already. Confirm: count the
       random actions.
    2. `randint(1, n)`: the first action is left out. Confirm: the same.

    ## What to try first
    `env.action_space.sample()`.

    ## When it is fine
    Where an action is kept from exploration on purpose, because it ends the episode.

    ## References
    Sutton & Barto 2018, section 2.2.
    """

    code: ClassVar[str] = "EXP280"
    name: ClassVar[str] = "action-never-random"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    fewest: int = 3  # actions there are
    chance: float = 1e-4  # that an action is missed by so many draws; repeated ones count once
    even: float = 3.0  # times as often as another that an action may come up among the rest
    liked: int = 5  # times that the network chose the missing one, at least

    def check(self, evidence: Script) -> Iterator[Finding]:
        count = discrete(evidence)
        parts = steps_of(evidence)
        if count is None or count < self.fewest or not parts:
            raise NotEnough("which steps are random cannot be told")
        drawn = np.concatenate([each.executed[~each.asked, 0] for each in parts])
        chosen = np.concatenate([each.executed[each.asked, 0] for each in parts])
        draws = 1 + int((np.diff(drawn) != 0).sum()) if len(drawn) else 0
        if (1.0 - 1.0 / count) ** draws > self.chance:
            raise NotEnough(f"{draws} random actions were seen, of {count} there are")
        times = np.array([(drawn == action).sum() for action in range(count)])
        missing = np.flatnonzero(times == 0)
        rest = times[times > 0]
        if len(missing) != 1 or times.sum() != len(drawn) or rest.max() > self.even * rest.min():
            return
        action = int(missing[0])
        liked = int((chosen == action).sum())
        if liked < self.liked:
            return
        line = next((each.line for each in parts if each.line is not None), None)
        yield self.finding(
            f"random actions are never {action}",
            where=Where(file=line[0], line=line[1]) if line else Where(),
            seen=f"none of {len(drawn)} random actions is {action}, each of the others is {rest.min()} to {rest.max()} "
            f"times; the network chose it {liked} times",
            expected=f"each of {count} actions in about {1.0 / count:.0%} of them",
            help="draw from all of them: env.action_space.sample(), or random.randrange(n) with all n",
            confidence=0.9,
        )
