"""Observations are trained with the actions of another environment of the vector."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.roles import roles_of
from rldebug.forensics.trained_actions import beside, equal, executed, trained_actions
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ActionOfAnotherLane(Rule):
    """Observations are trained with actions of another environment.

    ## What it checks
    The action that a loss holds beside an observation is compared with those that were executed in the same step by the
    other environments of the vector. It is always that of the environment so many places further. Exact.

    ## Why it matters
    Rewards of one environment are credited to what was done in another.

    ## Likely causes
    1. A roll, flip or sort on the axis of environments, of one column only. Confirm: compare one step of the rollout
       with what was given to `step`.
    2. Environments answer out of order, and only some of the columns are sorted again. Confirm: print the order of
       answers.

    ## What to try first
    Fill every column with the number of its environment, and compare the columns of a minibatch.

    ## When it is fine
    Nothing that is known of.

    ## References
    Seen in the wild: BUF-19 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "BUF301"
    name: ClassVar[str] = "action-of-another-lane"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "rows"
    follows: ClassVar[tuple[str, ...]] = ("BUF300", "BUF306")

    rows: int = 64  # that can be compared
    own: float = 0.9  # share of rows with their own action: then all is well
    other: float = 0.98  # share of rows with the action of another lane

    def check(self, evidence: Script) -> Iterator[Finding]:
        stream = roles_of(evidence).stream
        lanes = int(evidence.streams[stream]["lanes"]) if stream is not None and stream < len(evidence.streams) else 1
        if lanes < 2:
            return
        batches = [each for each in trained_actions(evidence) if len(each.places)]
        for by in [each for size in range(1, min(lanes, 9)) for each in (size, lanes - size)][: lanes - 1]:
            compared = hits = own = 0
            audits: set[int] = set()
            where: Event | None = None
            for batch in batches:
                far = executed(batch.audit.nodes, beside(batch.audit.nodes, batch.places, lanes, by))
                here = batch.executed
                usable = ~(far != far).any(axis=1) & ~(here != here).any(axis=1)
                compared += int(usable.sum())
                hits += int(equal(far, batch.action)[usable].sum())
                own += int(equal(here, batch.action)[usable].sum())
                audits.add(batch.audit.number)
                where = where or batch.term
            if compared < self.rows or len(audits) < 2:
                raise NotEnough(f"{compared} rows of losses could be traced to an executed action")
            if own >= self.own * compared:
                return
            if hits >= self.other * compared and where is not None:
                yield self.finding(
                    "the actions of the loss are those of another environment of the vector",
                    where=where.where,
                    seen=f"the action of the environment {by} further in {hits} of {compared} rows, its own in {own}",
                    expected="the action that was executed in the environment the observation is from",
                    help="keep all columns in the same order of environments: no roll, flip or sort of one of them",
                    confidence=0.97,
                )
                return
