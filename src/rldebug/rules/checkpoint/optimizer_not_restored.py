"""The state of the optimizer lies in the loaded file, and training goes on without it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.moments import saved_here
from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class OptimizerNotRestored(Rule):
    """The optimizer's state is in the file, and is not put back.

    ## What it checks
    A file that holds states of optimizers is loaded, a network takes its weights from it, and then an optimizer
    steps those weights with an empty state; one of the states in the file was never given to an optimizer. Exact.

    ## Why it matters
    Adam begins with moments of zero: its first steps are as long as they get, in directions of a single batch. What
    was learned is shaken at every restart.

    ## Likely causes
    1. Only the networks are loaded. Confirm: look for `optimizer.load_state_dict` where the file is loaded.
    2. The optimizer is built again after its state was loaded. Confirm: print `len(optimizer.state)` before the first
       step.

    ## What to try first
    Call `optimizer.load_state_dict(...)` with what lies in the file, right after the weights.

    ## When it is fine
    When trained weights of another task are the start of a new training; this is then a note, since the file was
    not written by this run.

    ## References
    google/brax issue 655.
    """

    code: ClassVar[str] = "CKP302"
    name: ClassVar[str] = "optimizer-not-restored"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    def check(self, evidence: Script) -> Iterator[Finding]:
        resumed = evidence.noted("resumed")
        if not resumed:
            raise NotEnough("no loaded network was trained further")
        told: set[str] = set()
        for note in resumed:
            file = evidence.things.get("checkpoint", {}).get(str(note["number"]))
            if file is None or not note["fresh"] or note["given"] or note["file"] in told:
                continue
            if file["states"] <= file["states_taken"]:
                continue
            told.add(note["file"])
            ours = saved_here(evidence, note["file"], note["update"])
            line = file.get("line")
            place = Where(file=line[0], line=line[1], update=note["update"]) if line else Where(update=note["update"])
            yield self.finding(
                "training goes on without the optimizer's state that was saved for it",
                where=place,
                seen=f"{note['file']} holds {file['states']} states of optimizers, {file['states_taken']} were given "
                f"back; {note['optimizer']} stepped the loaded weights with an empty state",
                expected="optimizer.load_state_dict(...) before the first step",
                help="load the optimizer's state right after the weights",
                confidence=0.95 if ours else 0.6,
                severity="warning" if ours else "note",
            )
