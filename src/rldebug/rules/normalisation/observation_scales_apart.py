"""Elements of the observation differ in scale by orders of magnitude."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_play import EnvPlay
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ObservationScalesApart(Rule):
    """Elements of the observation differ in scale by orders of magnitude.

    ## What it checks
    Among the elements that vary, the standard deviation of the widest is more than ten thousand times that of the
    narrowest. Elements in the thousands are left to `observation-too-large`; pixels and choices are left out.

    ## Why it matters
    The network sees the wide elements and hardly the narrow ones: what they say takes very long to be learned.

    ## Likely causes
    1. Different units side by side: an angle in radians, a distance in metres, a speed in millimetres. Confirm: name
       the unit of each element.
    2. One element was normalised and the others were not, or one was twice. Confirm: print the standard deviations.

    ## What to try first
    Wrap it in `gymnasium.wrappers.NormalizeObservation`.

    ## When it is fine
    The training script normalises observations.

    ## References
    Andrychowicz et al., *What Matters in On-Policy Reinforcement Learning?* (observation normalisation).
    """

    code: ClassVar[str] = "NRM006"
    name: ClassVar[str] = "observation-scales-apart"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "EnvPlay"

    apart: float = 1e4  # widest over narrowest
    steps: int = 500  # seen
    most: int = 64  # elements: among hundreds, some are hardly touched

    def check(self, evidence: EnvPlay) -> Iterator[Finding]:
        if evidence.obs_compared < self.steps:
            raise NotEnough(f"{evidence.obs_compared} observations, needs {self.steps}")
        moving = [each for each in evidence.elements if each.distinct > 20 and each.rms < 1e3]
        if len(moving) < 2 or len(evidence.elements) > self.most:
            return
        moving.sort(key=lambda each: each.std)
        narrow, wide = moving[0], moving[-1]
        if wide.std <= self.apart * narrow.std:
            return
        yield self.finding(
            "elements of the observation differ in scale by orders of magnitude",
            seen=f"{wide.where} varies by {wide.std:.3g}, {narrow.where} by {narrow.std:.3g} (standard deviations)",
            expected="elements of similar scale",
            help="divide each by its own scale, or wrap it in gymnasium.wrappers.NormalizeObservation",
            confidence=0.75,
        )
