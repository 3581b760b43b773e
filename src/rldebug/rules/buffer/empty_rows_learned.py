"""Rows that were never written are learned from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.batches import Call, acting, learning, recurrent
from rldebug.forensics.bootstraps import predictions
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class EmptyRowsLearned(Rule):
    """Rows of the replay that were never written are learned from.

    ## What it checks
    Batches of a Q-regression hold observations that are zero throughout and that the environment never handed out,
    while no observation that was acted on is zero.

    ## Why it matters
    Empty rows say that state zero, action zero is worth nothing and leads to itself. Early on they are most of the
    batch.

    ## Likely causes
    1. Indices are drawn over the capacity of the buffer, not over what it holds. Confirm: print the largest index drawn
       after a hundred steps.
    2. The position is advanced twice for each step. Confirm: look at rows 1, 3, 5 of the buffer.

    ## What to try first
    Draw indices below `min(steps_stored, capacity)`.

    ## When it is fine
    Padded sequences that a mask takes out of the loss; networks over sequences are not counted.

    ## References
    Seen in the wild: BUF-23, BUF-12 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "BUF307"
    name: ClassVar[str] = "empty-rows-learned"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "indices"

    share: float = 0.05  # of the rows of a batch
    known: float = 0.9  # of the rows of a batch are empty, or observations
    batches: int = 3  # with so many empty rows
    always: float = 0.9  # of the batches, where each has fewer: the walk through a tree ends in an empty leaf
    looked_at: int = 10  # batches, for that

    def check(self, evidence: Script) -> Iterator[Finding]:
        moves = {(audit.number, term.update) for audit, term in predictions(evidence)}
        if not moves:
            raise NotEnough("no Q-regression was seen")
        if any(_handed_out(each) for each in evidence.audits):
            return
        looked = 0
        for call in acting(evidence):
            empty = _empty(call)
            if empty is not None:
                looked += len(empty)
                if empty.any():
                    return  # the environment has such observations
        if looked < 16:
            raise NotEnough(f"{looked} observations that were acted on")
        found: list[tuple[Call, int]] = []
        for call in learning(evidence):
            shape = call.event["inputs"][0]["shape"] if call.event["inputs"] else []
            if (
                len(shape) not in (2, 4)
                or (call.audit.number, call.update) not in moves
                or recurrent(evidence, call.module)
            ):
                continue
            empty = _empty(call)
            # All else in the batch must be observations: what a layer makes of them may begin with zeros, too.
            if empty is not None and len(empty) >= 8 and call.known.any() and (empty | call.known).mean() >= self.known:
                found.append((call, int((empty & ~call.known).sum())))
        wrong = [(call, count) for call, count in found if count > self.share * len(call.rows)]
        some = [(call, count) for call, count in found if count]
        if len(wrong) < self.batches and len(found) >= self.looked_at and len(some) >= self.always * len(found):
            wrong = some
        if len(wrong) >= self.batches:
            call = wrong[0][0]
            yield self.finding(
                "rows of the replay that were never written are learned from",
                where=call.event.where,
                seen=f"{wrong[0][1]} of {len(call.rows)} rows are zero throughout at update {call.update}; so in "
                f"{len(wrong)} of {len(found)} batches",
                expected="rows that were stored, none of which is zero",
                help="draw indices below the number of rows that were stored, not below the capacity",
                confidence=0.95,
            )


def _handed_out(audit: Audit) -> bool:
    """Whether the environment gave such an observation, also where no network was asked: actions may be random first.

    One that it gives at every start is ambiguous, and its rows are not known.
    """
    low, high = audit.nodes.obs_stats[:, 0], audit.nodes.obs_stats[:, 1]
    return bool(((low == 0) & (high == 0)).any())


def _empty(call: Call) -> NDArray[np.bool_] | None:
    """Rows that are zero in every column of the observation; an action beside it is not looked at."""
    if call.event["match"] == "tag":
        return None
    if call.stats is not None:
        result: NDArray[np.bool_] = (call.stats[:, 0] == 0) & (call.stats[:, 1] == 0)
        return result
    if call.input is None or call.input.shape[1] < 2:
        return None
    wide = call.audit.nodes.obs.shape[1]
    part = call.input[:, :wide] if 0 < wide < call.input.shape[1] else call.input
    return np.asarray((part == 0).all(axis=1))
