"""Weights that were kept for later went on being trained."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class KeptWeightsNotCopied(Rule):
    """The best weights were kept without a copy, and trained on.

    ## What it checks
    A state dict is taken in the middle of training, and is saved or loaded after further optimizer steps. Its tensors
    are still those of the network: what is saved is the network as it is now, and loading it changes nothing. Exact.

    ## Why it matters
    `state_dict()` hands out the live tensors. The "best" weights are in fact the last ones: the report speaks of a
    policy that was never saved.

    ## Likely causes
    1. `best = net.state_dict()` without a copy. Confirm: compare a tensor of it with the network one update later.
    2. `dict(...)` or `copy.copy(...)` around it, which copies the dict and not the tensors. Confirm: as above.

    ## What to try first
    Keep `copy.deepcopy(net.state_dict())`, or save it to the file at once.

    ## When it is fine
    A dict that was built before training, to be saved again and again as it is then, is left out.

    ## References
    PyTorch documentation, *Saving and Loading Models*: the best state must be deep-copied or written at once.
    """

    code: ClassVar[str] = "CKP306"
    name: ClassVar[str] = "kept-weights-not-copied"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    def check(self, evidence: Script) -> Iterator[Finding]:
        saves, loads = evidence.noted("save"), [each for each in evidence.noted("restored") if "own" in each]
        if not saves and not loads:
            raise NotEnough("nothing was saved or loaded")
        for note in saves:
            for kept in note["kept"]:
                # From before the first update: a dict that is meant to be alive. Saved more than once: likewise.
                if 0 < kept["taken"] < note["update"] and kept["saved"] == 1 and 2 * kept["tensors"] > kept["of"]:
                    yield self._told(note, kept["taken"], f"saved at update {note['update']}")
                    return
        for note in loads:
            if note["own"] and note["taken"] and note["taken"] < note["update"]:
                yield self._told(note, note["taken"], f"loaded into {note['module']} at update {note['update']}")
                return

    def _told(self, note: Mapping[str, Any], taken: int, then: str) -> Finding:
        line, update = note["line"], note["update"]
        return self.finding(
            "weights that were kept for later went on being trained",
            where=Where(file=line[0], line=line[1], update=update) if line else Where(update=update),
            seen=f"a state dict taken at update {taken} and {then} consists of the tensors of the network itself",
            expected="a copy of the weights as they were when they were kept",
            help="keep copy.deepcopy(net.state_dict()) instead of net.state_dict()",
            confidence=0.93,
        )
