"""Observations and actions of the loss are a fixed number of steps apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.trained_actions import equal, executed, shifted, trained_actions
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ActionOfAnotherStep(Rule):
    """Observations and actions of the loss are some steps apart.

    ## What it checks
    The action that a loss holds beside an observation is compared with the one that was executed from it, and with
    those executed some steps before and after in the same lane. It is always that of the same number of steps away, and
    not its own. Observations that occurred more than once are left out. Exact.

    ## Why it matters
    Every reward is credited to an action that was taken in another state.

    ## Likely causes
    1. The action is stored before it is chosen: the variable still holds the last one. Confirm: print what is stored in
       the first three steps.
    2. Lists of observations and actions differ in length, one holds the observation of the reset too. Confirm: print
       both lengths.
    3. A roll, or a slice `[1:]`, on one of the columns only. Confirm: look where the batch is put together.

    ## What to try first
    Store observation and action in one line, between choosing the action and calling `env.step`.

    ## When it is fine
    Environments that delay actions on purpose still execute the action they are given.

    ## References
    Seen in the wild: BUF-25 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "BUF300"
    name: ClassVar[str] = "action-of-another-step"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "rows"
    follows: ClassVar[tuple[str, ...]] = ("BUF306",)

    rows: int = 48  # that can be compared at a distance
    own: float = 0.9  # share of rows with their own action: then all is well
    apart: float = 0.98  # share of rows with the action of some other step
    reach: int = 4  # steps before and after that are tried

    def check(self, evidence: Script) -> Iterator[Finding]:
        batches = trained_actions(evidence)
        if sum(len(each.places) for each in batches) < self.rows:
            raise NotEnough("hardly any row of a loss could be traced to an executed action")
        best: tuple[float, int, int, int] | None = None
        where: Event | None = None
        for steps in (each for size in range(1, self.reach + 1) for each in (-size, size)):
            compared = hits = own = 0
            audits: set[int] = set()
            for batch in batches:
                far = executed(batch.audit.nodes, shifted(batch.audit.nodes, batch.places, steps))
                here = batch.executed
                # Rows that would be right either way tell nothing, but for how many are right as they are.
                usable = ~(far != far).any(axis=1) & ~(here != here).any(axis=1)
                compared += int(usable.sum())
                hits += int(equal(far, batch.action)[usable].sum())
                own += int(equal(here, batch.action)[usable].sum())
                if usable.sum() >= 8:
                    audits.add(batch.audit.number)
                    where = where or batch.term
            if compared < self.rows or len(audits) < 2:
                continue
            share = hits / compared
            if share >= self.apart and own < self.own * compared and (best is None or share > best[0]):
                best = (share, steps, hits, compared)
        if best is None or where is None:
            return
        _, steps, hits, compared = best
        side = "after" if steps > 0 else "before"
        plural = "s" if abs(steps) > 1 else ""
        yield self.finding(
            f"the actions of the loss were executed {abs(steps)} step{plural} {side} the observations beside them",
            where=where.where,
            seen=f"the action of {abs(steps)} step{plural} {side} in {hits} of {compared} rows",
            expected="the action that was executed from the observation beside it",
            help="store observation and action together, between choosing the action and calling env.step",
            confidence=0.98,
        )
