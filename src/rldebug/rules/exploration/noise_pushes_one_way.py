"""Noise on actions goes to one side only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.executed_noise import executed_by
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class NoisePushesOneWay(Rule):
    """Noise on actions goes to one side only.

    ## What it checks
    The executed action differs from what the actor said by noise. Here nearly all differences of an element have the
    same sign, over several stretches of training; or their mean is far from zero, and on the same side in every
    stretch. Only steps count in which no bound cuts the noise off, nor would if it had the other sign.

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
    share: float = 0.1  # of all steps; half of them where the bounds are not known
    shifted: float = 0.6  # deviations of the noise that its mean is away from zero, at least, where both signs are seen
    alike: int = 6  # audits of some steps each that then agree, down to chance
    sure: float = 6.0  # deviations of the mean of their means, for that

    def check(self, evidence: Script) -> Iterator[Finding]:
        judged = 0
        for each in executed_by(evidence):
            noisy = np.abs(each.noise) > 1e-4 * (1 + np.abs(each.action))
            if each.drawn or not each.sure:
                continue  # where the action is made of the output in another way, all of it looks like noise
            # Only where the same noise with the other sign would not be cut off either: of an actor at its upper bound
            # every action that is not cut off was pushed down.
            # The program may cut off closer than the environment does: what was never gone beyond is a bound.
            low, high = each.action.min(axis=0), each.action.max(axis=0)
            mirror = each.said - each.noise
            keep = each.free & noisy & (each.action > low) & (each.action < high) & (mirror > low) & (mirror < high)
            known = each.low is not None and each.high is not None
            for at in range(each.action.shape[1]):
                rows = keep[:, at]
                judged = max(judged, int(rows.sum()))
                if rows.sum() < self.steps or len(np.unique(each.audit[rows])) < self.audits:
                    continue
                if rows.mean() < (self.share if known else 0.5):
                    continue
                noise = each.noise[rows, at]
                up = float((noise > 0).mean())
                if 0.03 <= up <= 0.97 and not self._shifted(noise, each.audit[rows]):
                    continue
                yield self.finding(
                    "noise pushes actions one way only" if not 0.03 <= up <= 0.97 else "noise has another mean than 0",
                    where=each.where,
                    seen=f"element {at} is pushed {'up' if noise.mean() > 0 else 'down'} in "
                    f"{max(up, 1 - up):.0%} of {len(noise)} steps, by {noise.mean():.3g} on average, with a deviation "
                    f"of {noise.std():.3g}",
                    expected="noise with mean zero",
                    help="print the noise: its mean should be zero",
                    confidence=0.88,
                )
                return
        if judged < self.steps:
            raise NotEnough(f"{judged} steps with noise that no bound cuts off, needs {self.steps}")

    def _shifted(self, noise: NDArray[np.float64], audit: NDArray[np.int64]) -> bool:
        """Whether its mean is far from zero, by what independent stretches say: noise may be slow."""
        if abs(noise.mean()) < self.shifted * noise.std():
            return False
        means = np.array([noise[audit == each].mean() for each in np.unique(audit) if (audit == each).sum() >= 4])
        if len(means) < self.alike or not (np.sign(means) == np.sign(noise.mean())).all():
            return False
        return bool(abs(means.mean()) > self.sure * means.std(ddof=1) / np.sqrt(len(means)))
