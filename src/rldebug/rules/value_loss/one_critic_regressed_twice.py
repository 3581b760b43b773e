"""One critic is trained twice, where two were meant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class OneCriticRegressedTwice(Rule):
    """One critic is trained twice, where two were meant.

    ## What it checks
    A loss has two regressions with the same predictions, to the last bit, on the same targets. Exact.

    ## Why it matters
    One critic learns at twice its rate, and the second one, which is there to hold it back, is not trained or is the
    same network.

    ## Likely causes
    1. A line was copied and `q1` was left in it. Confirm: read the lines of the critics' loss.
    2. `q1 = q2 = Critic()`: two names for one network. Confirm: `q1 is q2`.

    ## What to try first
    Two critics, each built by itself, each with a term of its own.

    ## When it is fine
    Nothing that is known of.

    ## References
    Fujimoto et al. 2018, *Addressing Function Approximation Error in Actor-Critic Methods*.
    """

    code: ClassVar[str] = "VAL391"
    name: ClassVar[str] = "one-critic-regressed-twice"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    losses: int = 4  # that must be there

    def check(self, evidence: Script) -> Iterator[Finding]:
        twice: list[Event] = []
        judged = 0
        for audit in evidence.audits:
            for _, terms in audit.losses:
                own = [each for each in terms if each["kind"] == "regression" and "prediction" in each.arrays]
                if any(each.get("nested") or each.get("clip") for each in own):
                    continue  # the larger of a clipped and a plain error
                pairs = [_halves(each) for each in own]
                several: list[bool | None] = [each for each in pairs if each is not None]
                for at, one in enumerate(own):
                    several += [_together(one, two) for two in own[at + 1 :]]
                told = [each for each in several if each is not None]
                judged += bool(told)
                if any(told):
                    twice.append(own[0])
        if judged < self.losses:
            raise NotEnough(f"{judged} losses with two regressions, needs {self.losses}")
        if len(twice) == judged:
            yield self.finding(
                "one critic is trained twice where two were meant",
                where=twice[0].where,
                seen=f"two regressions with the same predictions and the same targets in {len(twice)} losses",
                expected="predictions of two critics",
                help="give each critic a term of its own, and build each by itself",
                confidence=0.96,
            )


def _halves(term: Event) -> bool | None:
    """Two terms of one network in a row come as one, twice as long."""
    made, targets = np.ravel(term.arrays["prediction"]), term.arrays.get("target")
    rows = term.arrays.get("rows")
    if int(term.get("steps") or 1) != 2 or targets is None or len(made) < 16 or len(made) % 2:
        return None
    half = len(made) // 2
    targets = np.ravel(targets)
    if len(targets) != len(made) or not np.array_equal(targets[:half], targets[half:]) or np.ptp(targets) == 0:
        return None
    if rows is not None and len(rows) == len(made) and not np.array_equal(rows[:half], rows[half:]):
        return None
    return bool(np.array_equal(made[:half], made[half:]) and np.ptp(made) > 0)


def _together(one: Event, two: Event) -> bool | None:
    target, other = one.arrays.get("target"), two.arrays.get("target")
    if target is None or other is None or target.shape != other.shape or target.size < 8:
        return None
    made, theirs = one.arrays["prediction"], two.arrays["prediction"]
    if not np.array_equal(target, other) or np.ptp(target) == 0 or made.shape != theirs.shape:
        return None
    return bool(np.array_equal(made, theirs) and np.ptp(made) > 0)
