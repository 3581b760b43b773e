"""The step in which a vector environment resets itself is learned from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.batches import learning
from rldebug.forensics.passes import passes_of
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class AutoresetStepLearned(Rule):
    """The step in which the environment resets itself is learned from.

    ## What it checks
    Since Gymnasium 1.0 a vector environment takes one more step after an episode has ended: the action is ignored, the
    reward is 0, and the observation of the new episode comes back. Rows of batches are traced back to such steps; those
    that no loss pushes are left out. Where a loss is seen to push them in several parts of the run, one row in two
    hundred is a warning.

    ## Why it matters
    It is no transition: the final state seems to lead to the start of the next episode, whatever is done.

    ## Likely causes
    1. Code written for Gymnasium before 1.0, or for another library. Confirm: `envs.metadata["autoreset_mode"]`.

    ## What to try first
    `gym.make_vec(..., vector_kwargs={"autoreset_mode": AutoresetMode.SAME_STEP})`, or leave out the rows whose step
    before was done.

    ## When it is fine
    Where such rows are masked out of the loss, which is not always seen. Where episodes are long they are few, and
    hardly matter: then it is a note.

    ## References
    Seen in the wild: BUF-06, NRM-04 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "BUF305"
    name: ClassVar[str] = "autoreset-step-learned"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "rows"

    rows: int = 64  # that can be traced
    many: float = 0.08  # share of such rows above which it is more than a note: episodes are short
    sure: float = 0.005  # the same where a loss was seen to push them, time and again: one row in two hundred
    audits: int = 3  # in which it did
    pushed: int = 12  # such rows, at least

    def check(self, evidence: Script) -> Iterator[Finding]:
        if not any(each["autoreset"] == "next-step" for each in evidence.streams):
            return
        known = phantom = 0
        where: Event | None = None
        audits: set[int] = set()
        pushed = _pushed(evidence)
        for call in learning(evidence):
            felt = pushed.get((call.audit.number, call.order))
            if pushed and (felt is None or len(felt) != len(call.rows)):
                continue  # not looked at, or no loss came of it
            places = call.places[call.known if felt is None else call.known & felt]
            marked = call.audit.nodes.phantom[places] & (call.audit.nodes.alike[places] == 0)
            known += len(places)
            phantom += int(marked.sum())
            if marked.any():
                where = where or call.event
                audits.add(call.audit.number)
        if known < self.rows:
            raise NotEnough(f"{known} rows could be traced to the environment")
        sure = bool(pushed) and len(audits) >= self.audits and phantom >= self.pushed
        if where is not None:
            yield self.finding(
                "steps in which the environment only resets itself are learned from",
                where=where.where,
                seen=f"{phantom} of {known} rows",
                expected="none: the action was ignored",
                help="use AutoresetMode.SAME_STEP, or leave out rows that follow a done",
                confidence=0.9,
                severity="warning" if phantom > (self.sure if sure else self.many) * known else self.severity,
            )


def _pushed(script: Script) -> dict[tuple[int, int], NDArray[np.bool_]]:
    """By audit and call: the rows whose output a loss has pushed. A row that is masked out is computed all the same."""
    found: dict[tuple[int, int], NDArray[np.bool_]] = {}
    for each in passes_of(script):
        for push in each.pushes:
            key, felt = (each.audit.number, push.output.order), (push.gradient != 0).any(axis=1)
            found[key] = felt | found[key] if key in found else felt
    return found
