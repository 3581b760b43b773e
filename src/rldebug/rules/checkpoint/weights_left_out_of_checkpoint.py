"""A checkpoint holds the state of an optimizer but not all weights that it trains."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.moments import moments
from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class WeightsLeftOutOfCheckpoint(Rule):
    """Some of the weights that are trained are not in the checkpoint.

    ## What it checks
    The checkpoint holds the state of an optimizer, so it is meant for going on later. Every tensor that this optimizer
    trains is looked for in the files of that moment: the tensor itself, a copy, or its value as a plain number. Exact.

    ## Why it matters
    After a restart that tensor begins anew, while its moments and everything around it go on: a temperature jumps back
    to its first value, a head forgets what it knew.

    ## Likely causes
    1. It is a plain tensor that requires a gradient, not an `nn.Parameter`, so that `state_dict()` does not know it.
       Confirm: look for its name in the keys of the state dict.
    2. A network was added to the program and not to the function that saves. Confirm: compare the networks with the
       keys of the saved dict.
    3. Another network than the trained one is saved. Confirm: load the file and compare the weights.

    ## What to try first
    Make it an `nn.Parameter` of a module that is saved, or add it to the saved dict by hand.

    ## When it is fine
    When it is written by other means than `torch.save`, into a file of its own.

    ## References
    DLR-RM/stable-baselines3 issue 391; google/brax issue 655.
    """

    code: ClassVar[str] = "CKP300"
    name: ClassVar[str] = "weights-left-out-of-checkpoint"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    def check(self, evidence: Script) -> Iterator[Finding]:
        found = [each for each in moments(evidence) if each.whole]
        if not any(held.saved for each in found for held in each.optimizers.values()):
            raise NotEnough("no checkpoint with the state of an optimizer was saved")
        told: set[str] = set()
        for moment in reversed(found):
            for name, held in moment.optimizers.items():
                if not held.saved or not held.lacking or name in told:
                    continue
                told.add(name)
                shapes = ", ".join(
                    _shown(held.shapes[each]) for each in sorted(held.lacking)[:4] if each in held.shapes
                )
                yield self.finding(
                    "weights that are trained are not in the checkpoint",
                    where=moment.where,
                    seen=f"{moment.files[0]} has the state of {name}, and {len(held.lacking)} of the {held.weights} "
                    f"tensors that it trains are not in it ({shapes})",
                    expected="every tensor that the optimizer trains, beside the optimizer's state",
                    help="make it an nn.Parameter of a module whose state_dict() is saved, or save it as well",
                    confidence=0.9,
                )


def _shown(shape: tuple[int, ...]) -> str:
    return "a single number" if not shape else "×".join(map(str, shape))
