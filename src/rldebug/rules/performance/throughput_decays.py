"""The run gets slower and slower."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ThroughputDecays(Rule):
    """The run gets slower and slower.

    ## What it checks
    Env steps per second and updates per second, in equal parts of the run: both fall from part to part, and end at
    less than a third of where they began. Episodes that get longer slow the updates down but not the steps, and do
    not count.

    ## Why it matters
    A cost that grows with the length of the run means that something is kept and gone through again and again. The last
    tenth of the run then costs as much as the rest.

    ## Likely causes
    1. Statistics or logs are computed over everything so far, at every step. Confirm: profile a late update and an
       early one; the difference is the culprit.
    2. A buffer is never cleared. Confirm: `batch/rows` or `rollout/steps` grow.
    3. Graphs are kept: a sum of losses that are not detached. Confirm: `host/resident` grows too.

    ## What to try first
    Run `py-spy dump` on the process, early and late.

    ## When it is fine
    Other programs took over the machine, or the task itself becomes costlier as the agent gets further.

    ## References
    Jones, *Debugging RL, Without the Agonizing Pain* (component throughput).
    """

    code: ClassVar[str] = "PRF001"
    name: ClassVar[str] = "throughput-decays"
    severity: ClassVar[Severity] = "note"
    needs: ClassVar[tuple[str, ...]] = ("pace/updates", "pace/env_steps")

    parts: int = 6  # of the run that are compared
    slower: float = 3.0  # first part over last part
    steadiness: float = 0.8  # rank correlation of the seconds per step with time
    seconds: float = 2.0  # a run must last
    extreme: float = 10.0  # first part over last part, from which it is a warning
    extreme_seconds: float = 60.0  # a run must last for that

    def check(self, evidence: Run) -> Iterator[Finding]:
        readings = evidence.readings
        lasted = readings[-1].seconds - readings[0].seconds
        cuts = np.linspace(readings[0].update, readings[-1].update, self.parts + 1)
        updates = np.array([each.update for each in readings])
        marks = [readings[int(np.searchsorted(updates, cut))] for cut in cuts]
        spans = np.diff([each.seconds for each in marks])
        if lasted < self.seconds or len({each.update for each in marks}) <= self.parts or np.any(spans <= 0):
            raise NotEnough(
                f"{len(readings)} readings in {lasted:.1f} s, needs {self.parts} parts in {self.seconds:g} s"
            )
        steps, learned = (np.diff([getattr(m, name) for m in marks]) / spans for name in ("env_step", "update"))
        worst = 0.0
        for speed in (steps, learned):
            ranks = np.argsort(np.argsort(-speed))
            steady = np.corrcoef(ranks, np.arange(self.parts))[0, 1] >= self.steadiness
            if speed[-1] <= 0 or not steady or speed[0] < self.slower * speed[-1]:
                return
            worst = max(worst, float(speed[0] / speed[-1]))
        extreme = worst >= self.extreme and lasted >= self.extreme_seconds
        yield self.finding(
            "the run gets slower and slower",
            where=Where(update=readings[-1].update, env_step=readings[-1].env_step),
            seen=f"{steps[0]:.0f} env steps and {learned[0]:.1f} updates per second in the first of {self.parts} "
            f"parts, {steps[-1]:.0f} and {learned[-1]:.1f} in the last, falling all the way",
            expected="a steady pace",
            help="profile an early and a late update: look for a list that is appended to and gone through again",
            confidence=0.75,
            severity="warning" if extreme else "note",
        )
