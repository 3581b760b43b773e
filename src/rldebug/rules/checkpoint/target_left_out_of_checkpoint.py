"""Training goes on from a checkpoint with a target network that is not the saved one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from rldebug.evidence.moments import moments
from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.roles import roles_of
from rldebug.rule import NotEnough, Rule

_STRANGE = "training went on with a target of other weights"


@dataclass(frozen=True, kw_only=True)
class TargetLeftOutOfCheckpoint(Rule):
    """The target network is not in the checkpoint.

    ## What it checks
    The checkpoint holds an optimizer's state and the network that is trained, and not the target network that follows
    it. Where the file is loaded again in this run, the target network is looked at in the moment of the first
    step: it is neither the saved one nor a copy of the network that was loaded.

    ## Why it matters
    After a restart the targets come from a network with random weights: the value that was learned is pulled apart
    until the target has caught up.

    ## Likely causes
    1. Only the trained network is saved, and the target is built anew. Confirm: print the keys of the saved dict.
    2. The target is copied from the network before the weights are loaded. Confirm: look at the order of the lines.

    ## What to try first
    Save the target network too, or copy the network into it right after the weights are loaded.

    ## When it is fine
    When the target is copied from the network after loading; a note remains where the loading was not seen.

    ## References
    DLR-RM/stable-baselines3 saves both networks of a DQN.
    """

    code: ClassVar[str] = "CKP303"
    name: ClassVar[str] = "target-left-out-of-checkpoint"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    def check(self, evidence: Script) -> Iterator[Finding]:
        targets = roles_of(evidence).targets
        if not targets:
            raise NotEnough("no target network was seen")
        found = [each for each in moments(evidence) if each.whole]
        resumed = evidence.noted("resumed")
        if not found and not resumed:
            raise NotEnough("nothing was saved")
        for note in resumed:
            for twin in note["twins"]:
                if twin["name"] in roles_of(evidence).target_names and _strange(twin):
                    yield self._told(_place(note), f"{note['file']} was loaded into {note['module']}; {_STRANGE}", True)
                    return
        for moment in found:
            to_go_on = any(held.saved for held in moment.optimizers.values())
            lacking = [
                target
                for target, online in targets
                if target in moment.modules
                and moment.modules[target][0] < moment.modules[target][1]
                and moment.has(online)
            ]
            if not to_go_on or not lacking:
                continue
            loaded = [each for each in resumed if each["file"] in moment.files]
            strange = any(_strange(twin) for each in loaded for twin in each["twins"])
            if loaded and not strange:
                return  # it was brought up to date by other means
            seen = f"{moment.files[0]} has the optimizer and the network, and not its target {' and '.join(lacking)}"
            yield self._told(moment.where, f"{seen}; {_STRANGE}" if strange else seen, strange)
            return

    def _told(self, where: Where, seen: str, sure: bool) -> Finding:
        return self.finding(
            "the target network does not come back with the checkpoint",
            where=where,
            seen=seen,
            expected="the target network in the file, or copied from the network right after loading",
            help="save and load the target's state_dict() too, or copy the network into the target after loading",
            confidence=0.9 if sure else 0.6,
            severity="warning" if sure else "note",
        )


def _strange(twin: Mapping[str, Any]) -> bool:
    """Neither out of the file nor a copy of the network that was."""
    return not twin["restored"] and 2 * int(twin["equal"]) < int(twin["of"])


def _place(note: Mapping[str, Any]) -> Where:
    line = note.get("line")
    return Where(file=line[0], line=line[1], update=note["update"]) if line else Where(update=note["update"])
