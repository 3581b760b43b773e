"""Weights were loaded, and were others when training went on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class LoadedWeightsOverwritten(Rule):
    """Loaded weights are written over before training goes on.

    ## What it checks
    A network takes its weights from a file. Just before the first optimizer step after that, most of its tensors hold
    other numbers. No optimizer had stepped in between. Exact.

    ## Why it matters
    The run that was meant to go on begins anew, and its curve looks as if the checkpoint were bad.

    ## Likely causes
    1. The weights are initialised after they are loaded. Confirm: look for `apply(`, `init.` or `reset_parameters`
       after the line that loads.
    2. Another network is copied into it afterwards, in the wrong direction. Confirm: look for `copy_` and
       `load_state_dict` after the line that loads.

    ## What to try first
    Load the weights last, right before training begins.

    ## When it is fine
    When only a few layers are made anew on purpose: most tensors are as loaded then, and nothing is said.

    ## References
    real bug family CKP (state that does not survive a restart).
    """

    code: ClassVar[str] = "CKP305"
    name: ClassVar[str] = "loaded-weights-overwritten"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    share: float = 0.5  # of the tensors that must hold other numbers

    def check(self, evidence: Script) -> Iterator[Finding]:
        resumed = [each for each in evidence.noted("resumed") if each["changed"] is not None]
        if not resumed:
            raise NotEnough("no loaded network was trained further")
        for note in resumed:
            if note["changed"] <= self.share * note["tensors"]:
                continue
            line = note.get("line")
            yield self.finding(
                "the loaded weights are gone when training goes on",
                where=Where(file=line[0], line=line[1], update=note["update"])
                if line
                else Where(update=note["update"]),
                seen=f"{note['changed']} of {note['tensors']} tensors of {note['module']}, loaded from {note['file']}, "
                "hold other numbers at the first optimizer step after that",
                expected="the numbers of the file, until an optimizer changes them",
                help="initialise first and load last",
                confidence=0.95,
            )
            return
