"""Noise on actions goes to one side only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.executed_noise import executed_by
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class NoisePushesOneWay(Rule):
    """Noise on actions goes to one side only.

    ## What it checks
    The executed action differs from what the actor said by noise. Here nearly all differences of an element have the
    same sign, in steps that no bound cuts off, over several stretches of training.

    ## Why it matters
    Actions drift to one side; the other side is never tried.

    ## Likely causes
    1. The noise is uniform in [0, 1), or its size is taken. Confirm: print it.
    2. Its mean is the middle of the action range instead of zero. Confirm: the same.
    3. The process that makes it never returns to zero. Confirm: the same.

    ## What to try first
    Noise with mean zero.

    ## When it is fine
    Nothing that is known of.

    ## References
    Seen in the wild: ACT-04 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "EXP372"
    name: ClassVar[str] = "noise-pushes-one-way"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    steps: int = 48  # that must be there
    audits: int = 3  # in which it was seen

    def check(self, evidence: Script) -> Iterator[Finding]:
        judged = 0
        for each in executed_by(evidence):
            noisy = np.abs(each.noise) > 1e-4 * (1 + np.abs(each.action))
            if each.drawn or not each.sure:
                continue  # where the action is made of the output in another way, all of it looks like noise
            # Only where the same noise with the other sign would not be cut off either: of an actor at its upper bound
            # every action that is not cut off was pushed down.
            low = each.low if each.low is not None else each.action.min(axis=0)
            high = each.high if each.high is not None else each.action.max(axis=0)
            mirror = each.said - each.noise
            keep = each.free & noisy & (mirror > low) & (mirror < high)
            for at in range(each.action.shape[1]):
                rows = keep[:, at]
                judged = max(judged, int(rows.sum()))
                if rows.sum() < self.steps or len(np.unique(each.audit[rows])) < self.audits or rows.mean() < 0.5:
                    continue
                up = float((each.noise[rows, at] > 0).mean())
                if up > 0.97 or up < 0.03:
                    yield self.finding(
                        "noise pushes actions one way only",
                        where=each.where,
                        seen=f"element {at} is pushed {'up' if up > 0.5 else 'down'} in {max(up, 1 - up):.0%} of "
                        f"{int(rows.sum())} steps, by {np.abs(each.noise[rows, at]).mean():.3g} on average",
                        expected="noise with mean zero",
                        help="print the noise: its mean should be zero",
                        confidence=0.88,
                    )
                    return
        if judged < self.steps:
            raise NotEnough(f"{judged} steps with noise that no bound cuts off, needs {self.steps}")
