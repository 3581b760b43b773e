"""The learning rate begins anew after a checkpoint is loaded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ScheduleBeginsAnew(Rule):
    """The learning rate begins anew after a checkpoint is loaded.

    ## What it checks
    Training was cut into parts, each with an optimizer of its own whose state was loaded. At the end of a part the
    rate had fallen; the next one begins again where the first began.

    ## Why it matters
    The schedule is that of a new run: steps are too large for weights that are nearly trained, and what was learned
    is shaken up.

    ## Likely causes
    1. The number of updates, or the state of the scheduler, is not saved. Confirm: look at the keys of the file.
    2. It is saved and not loaded. Confirm: print it after loading.

    ## What to try first
    Save the number of updates, or `scheduler.state_dict()`, and set it after loading.

    ## When it is fine
    Where weights of another task are the start of a new training; then the state of the optimizer is not loaded.

    ## References
    Bug kind CKP-06 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "CKP350"
    name: ClassVar[str] = "schedule-begins-anew"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    fallen: float = 0.9  # of the first rate, and less, at the end of a part
    same: float = 0.05  # by which the two first rates may differ: a schedule may have moved on before the first step
    parts: int = 2  # of the training, each with an optimizer of its own

    def check(self, evidence: Script) -> Iterator[Finding]:
        loaded = {str(each.get("optimizer")) for each in evidence.noted("restored") if each.get("optimizer")}
        alike: dict[tuple[str, int], list[tuple[str, float, float]]] = {}
        for name, each in evidence.optimizers.items():
            if each.get("lr_first") is not None and each.get("lr_last") is not None and each.get("steps"):
                key = (str(each.get("class")), int(each.get("numel") or 0))
                alike.setdefault(key, []).append((name, float(each["lr_first"]), float(each["lr_last"])))
        parts = max((len(each) for each in alike.values()), default=0)
        if parts < self.parts or not loaded:
            raise NotEnough(f"{parts} optimizers alike, of which {len(loaded)} were loaded; needs {self.parts} and one")
        for group in alike.values():
            for before, now in pairwise(group):
                fell = before[2] < self.fallen * before[1]
                if now[0] in loaded and fell and abs(now[1] - before[1]) <= self.same * before[1]:
                    yield self.finding(
                        "the learning rate begins anew when training goes on from a checkpoint",
                        where=Where(),
                        seen=f"{before[2]:.3g} at the end of a part, {now[1]:.3g} at the beginning of the next",
                        expected=f"about {before[2]:.3g}: the schedule goes on",
                        help="save the number of updates or the state of the scheduler, and load it",
                        confidence=0.85,
                    )
                    return
