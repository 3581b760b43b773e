"""A checkpoint that training goes on from does not hold the state of an optimizer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.moments import Moment, moments
from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class OptimizerLeftOutOfCheckpoint(Rule):
    """A checkpoint to go on from lacks the state of an optimizer.

    ## What it checks
    Either the files of one moment hold the weights and the state of one optimizer, and of another one only the weights;
    or a file with weights alone was loaded again in this run, and a new optimizer went on from there. Optimizers
    without a state (plain SGD) are left out.

    ## Why it matters
    Adam begins with moments of zero: its first steps are as long as they get, in directions of a single batch. What
    was learned is shaken at every restart.

    ## Likely causes
    1. Only the networks' `state_dict()` is saved. Confirm: print the keys of the saved dict.
    2. An optimizer was added to the program and not to the function that saves. Confirm: compare the two.

    ## What to try first
    Save `optimizer.state_dict()` of every optimizer in the same file, and load it where the weights are loaded.

    ## When it is fine
    When a policy is saved to be used and not to be trained further; then no optimizer is saved, and nothing is said.

    ## References
    google/brax issue 655.
    """

    code: ClassVar[str] = "CKP301"
    name: ClassVar[str] = "optimizer-left-out-of-checkpoint"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    def check(self, evidence: Script) -> Iterator[Finding]:
        found = [each for each in moments(evidence) if each.whole]
        if not found:
            raise NotEnough("nothing was saved")
        for moment in reversed(found):
            without = [name for name, held in moment.optimizers.items() if held.unsaved and held.lacking == frozenset()]
            if without and any(held.saved for held in moment.optimizers.values()):
                beside = next(name for name, held in moment.optimizers.items() if held.saved)
                yield self._told(moment, f"the state of {beside} is in it, that of {' and '.join(without)} is not", 0.9)
                return
        for note in evidence.noted("resumed"):
            written = [each for each in found if note["file"] in each.files and each.update <= note["update"]]
            if not written or not note["fresh"] or note["given"]:
                continue
            moment = written[-1]
            file = evidence.things.get("checkpoint", {}).get(str(note["number"]), {})
            bare = not any(held.state for held in moment.optimizers.values())
            if bare and not file.get("states") and any(held.unsaved for held in moment.optimizers.values()):
                yield self._told(
                    moment,
                    f"it was loaded, and at update {note['update']} {note['optimizer']} went on from there with an "
                    "empty state",
                    0.75,
                )
                return

    def _told(self, moment: Moment, seen: str, confidence: float) -> Finding:
        return self.finding(
            "the checkpoint lacks the state of an optimizer",
            where=moment.where,
            seen=f"{moment.files[0]}: {seen}",
            expected="the state of every optimizer beside the weights it trains",
            help="save optimizer.state_dict() beside the weights, and load it where they are loaded",
            confidence=confidence,
        )
