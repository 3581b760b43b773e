"""A copy of the network acts, and never gets what the other one learns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.roles import roles_of
from rldebug.forensics.updates import restored
from rldebug.forensics.weights import prints
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ActingCopyNeverSynchronised(Rule):
    """A copy of the network acts, and never gets what the other one learns.

    ## What it checks
    The network that is called on the current observations never changed, from audit to audit. Another one of the same
    shapes is trained, changed, and never acts; nor does any other network that a policy loss or Q loss trains. Exact.

    ## Why it matters
    The data comes from the untrained policy for the whole run, and the returns that are shown are its returns.

    ## Likely causes
    1. The acting copy was made with `deepcopy` or `load_state_dict` once, and is not filled again after updates.
       Confirm: compare a weight of both after an update.
    2. The environment loop calls the target network, or a network that was made a second time. Confirm: print `id()`
       of both.

    ## What to try first
    Act with the network that learns; or copy its weights after every update.

    ## When it is fine
    Learning from a fixed behaviour policy on purpose.

    ## References
    PyTorch, `torch.nn.Module.load_state_dict`.
    """

    code: ClassVar[str] = "NET301"
    name: ClassVar[str] = "acting-copy-never-synchronised"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    audits: int = 3  # at which the acting network was the same
    updates: int = 50  # between the first and the last of them

    def check(self, evidence: Script) -> Iterator[Finding]:
        roles = roles_of(evidence)
        learners = {name for name in roles.policy | roles.q if evidence.owners(name)}
        if len(evidence.audits) < self.audits or not learners:
            raise NotEnough(f"fewer than {self.audits} audits, or nothing that learns to act")
        if restored(evidence) or any(self._may_act(evidence, name) for name in learners):
            return
        acting: dict[str, list[Event]] = {}
        for _, event in evidence.events("call"):
            if event.get("acting"):
                acting.setdefault(str(event["module"]), []).append(event)
        for name, calls in acting.items():
            looks = [event for _, event in evidence.events("weights") if event["module"] == name]
            if len(looks) < self.audits or looks[-1].update - looks[0].update < self.updates:
                continue
            if len(set(prints(evidence, name))) > 1 or evidence.owners(name):
                continue
            copies = [each for each in evidence.things.get("copy", {}).values() if each.get("module") == name]
            if sum(int(each["times"]) for each in copies) > 1:
                continue
            for learner in sorted(learners & set(looks[-1].get("distance") or ())):
                moved = [event for _, event in evidence.events("weights") if event["module"] == learner]
                if len({event["fingerprint"] for event in moved}) < self.audits:
                    continue
                yield self.finding(
                    f"{name} acts and never changes, while {learner} learns",
                    where=calls[0].where,
                    seen=f"{name} is the same at {len(looks)} looks over {looks[-1].update - looks[0].update} updates; "
                    f"{learner} is {looks[-1]['distance'][learner]:.2g} away from it, and never acts",
                    expected="acting with what was learned",
                    help=f"act with {learner}, or copy its weights into {name} after each update",
                    confidence=0.95,
                )
                return

    def _may_act(self, script: Script, name: str) -> bool:
        """Whether it acts, or is called without gradients on rows that are not known: it may act on those."""
        for audit, event in script.events("call"):
            if event["module"] != name and script.modules.get(str(event["module"]), {}).get("inside") != name:
                continue
            if event.get("acting"):
                return True
            rows = event.arrays.get("rows")
            if not event["grad"] and (rows is None or not audit.nodes.known(rows).all()):
                return True
        return False
