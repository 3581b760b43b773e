"""Rows hold an action that did not lead to their next observation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.bootstraps import pairs_by_rows
from rldebug.forensics.target_twins import impossible, world_of
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ActionOfNoSuchStep(Rule):
    """Rows hold an action that did not lead to their next observation.

    ## What it checks
    Worlds whose observations come back, such as grids. Observation and next observation of a row are those of a step
    that was recorded, but the action of the row is none that was seen to lead from one to the other, in a large part of
    all rows. Targets of several steps are not judged.

    ## Why it matters
    The value of an action is learned from what another one led to.

    ## Likely causes
    1. Columns of the replay are written at different places, or rows are shuffled one by one. Confirm: print three
       stored rows beside what was executed.
    2. The index that picks the value is not the action: another column, or the next action. Confirm: read the line with
       `gather`.

    ## What to try first
    Store observation, action, reward and next observation in one line, after `env.step`.

    ## When it is fine
    Never, where the environment does as it is told.

    ## References
    Seen in the wild: BUF-25 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "BUF354"
    name: ClassVar[str] = "action-of-no-such-step"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "rows"
    follows: ClassVar[tuple[str, ...]] = ("ACT300", "BUF302")

    steps: int = 150  # of the environment that are known
    rows: int = 100  # that are a step
    steps_share: float = 0.95  # of the rows, which must be single steps
    share: float = 0.35  # of them with another action

    def check(self, evidence: Script) -> Iterator[Finding]:
        world = world_of(evidence)
        if len(world.id) < self.steps or float(world.twin.mean()) < 0.5:
            raise NotEnough("observations do not come back")
        odd = judged = known = 0
        audits: set[int] = set()
        where = None
        for pair in pairs_by_rows(evidence):
            wrong, told, all_of_it = impossible(world, pair.ids, pair.taken, world.looks(pair.called))
            odd, judged, known = odd + wrong, judged + told, known + all_of_it
            if wrong:
                audits.add(pair.audit)
                where = where or pair.where
        if judged < self.rows or judged < self.steps_share * known:
            raise NotEnough(f"{judged} of {known} rows are single steps of the environment")
        if where is not None and odd > self.share * judged and len(audits) > 1:
            yield self.finding(
                "rows hold an action that did not lead to their next observation",
                where=where,
                seen=f"{odd} of {judged} rows are a step that was taken, but with another action",
                expected="the action that was executed in that step",
                help="store observation, action, reward and next observation together",
                confidence=0.93,
            )
