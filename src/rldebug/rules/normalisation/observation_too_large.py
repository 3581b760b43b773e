"""Observations are in the thousands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_play import EnvPlay
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ObservationTooLarge(Rule):
    """Observations are in the thousands.

    ## What it checks
    An element of the observation has a root mean square above a thousand, over all players. Pixels and choices are
    left out. A warning from a hundred thousand on.

    ## Why it matters
    Networks are initialised for inputs around 1. Inputs in the thousands saturate them, and the step that suits one
    weight is far too large for its neighbour.

    ## Likely causes
    1. Units: millimetres, cents, bytes. Confirm: print one observation and name the unit of each element.
    2. A quantity that grows without bounds: a step counter, a sum, a price. Confirm: plot it over an episode.
    3. The normalisation is left to the training script. Confirm: it wraps the environment in `NormalizeObservation`.

    ## What to try first
    Divide by a typical size, or wrap it in `gymnasium.wrappers.NormalizeObservation`.

    ## When it is fine
    The training script normalises observations.

    ## References
    Andrychowicz et al., *What Matters in On-Policy Reinforcement Learning?* (observation normalisation).
    """

    code: ClassVar[str] = "NRM005"
    name: ClassVar[str] = "observation-too-large"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "EnvPlay"

    large: float = 1e3  # root mean square: a note
    huge: float = 1e5  # root mean square: a warning
    steps: int = 100  # seen

    def check(self, evidence: EnvPlay) -> Iterator[Finding]:
        if evidence.obs_compared < self.steps or not evidence.elements:
            raise NotEnough("needs 100 observations with numbers in them")
        over = sorted((each for each in evidence.elements if each.rms > self.large), key=lambda each: -each.rms)
        if not over:
            return
        named = ", ".join(f"{each.where} {each.low:.4g} … {each.high:.4g}" for each in over[:3])
        yield self.finding(
            "observations are very large",
            seen=named + (f", and {len(over) - 3} more" if len(over) > 3 else ""),
            expected="sizes around 1, as networks are initialised for",
            help="divide by a typical size, or wrap it in gymnasium.wrappers.NormalizeObservation",
            confidence=0.8,
            severity="warning" if over[0].rms > self.huge else "note",
        )
