"""A replay is kept, and only its newest rows are learned from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.ages import drawn
from rldebug.forensics.bootstraps import predictions
from rldebug.forensics.roles import roles_of
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class OnlyNewestSampled(Rule):
    """Of the replay only the newest few steps are learned from.

    ## What it checks
    Rows of batches of a Q-regression with a target network are traced back to their environment steps. All of them are
    of the last few steps, though many more were taken, and the same rows are drawn again and again.

    ## Why it matters
    A replay is there to break the correlation of successive steps, and to remember. Without it Q-learning with a
    network swings after the newest episode.

    ## Likely causes
    1. The batch is a slice from the end of the buffer. Confirm: print the indices of two batches.
    2. The buffer is emptied after each update, or its capacity is a batch. Confirm: print its length.

    ## What to try first
    Draw indices at random over all that is stored, with a capacity of at least some thousand steps.

    ## When it is fine
    Algorithms that learn from the newest rollout on purpose have no replay; with a target network that is rare.

    ## References
    Mnih et al., *Human-level control through deep reinforcement learning*.
    Seen in the wild: BUF-24 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "BUF309"
    name: ClassVar[str] = "only-newest-sampled"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "indices"

    audits: int = 3  # in which enough rows are known
    reach: float = 4.0  # batches, counted in rows, that the oldest row lies back
    enough: float = 20.0  # batches that were collected by then

    def check(self, evidence: Script) -> Iterator[Finding]:
        if not roles_of(evidence).targets or not predictions(evidence):
            raise NotEnough("no Q-regression with a target network was seen")
        stream = roles_of(evidence).stream
        lanes = int(evidence.streams[stream]["lanes"]) if stream is not None else 1
        # Another algorithm of the same program may have learned from its newest rollout, as it should.
        replayed = {audit.number for audit, _ in predictions(evidence)}
        looks = [each for each in drawn(evidence) if each.unknown < 0.2 and each.audit.number in replayed]
        late = [
            each
            for each in looks
            if each.now * lanes >= self.enough * len(each.calls) / each.batches and each.batches > 2
        ]
        if len(late) < self.audits:
            raise NotEnough(f"{len(late)} audits late enough for a replay to hold more than is drawn")
        for each in late:
            size = len(each.calls) / each.batches
            # What the audit itself collected is new, and not counted as old.
            span = each.now - int(
                each.audit.nodes.call[each.audit.nodes.phase >= each.audit.phase].min(initial=each.now)
            )
            if (each.oldest - span) * lanes > self.reach * size:
                return
        last = late[-1]
        yield self.finding(
            "of the replay only the newest rows are learned from",
            where=last.first.where,
            seen=f"no row older than {last.oldest} env calls in {len(last.calls)} rows, after {last.now} calls",
            expected="rows of all ages, as a replay gives them",
            help="draw indices at random over everything that is stored",
            confidence=0.8,
        )
