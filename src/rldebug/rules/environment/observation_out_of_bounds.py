"""Observations leave the bounds of their declared space."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_contract import EnvContract
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ObservationOutOfBounds(Rule):
    """Observations leave the bounds of their declared space.

    ## What it checks
    How often, and how far, each element of the observation leaves `observation_space` while random actions are played.
    A number outside of a Discrete space is an error; an element that is out by much more than rounding, and more than
    now and then, is a warning; else it is a note.

    ## Why it matters
    Bounds are used to scale and clip, and to build tables and embeddings: an index beyond the end raises, and an
    element that is clipped at its bound cannot be told from its neighbours.

    ## Likely causes
    1. The bounds were guessed. Confirm: print the smallest and largest value of the element over a few episodes.
    2. A unit differs: degrees and radians, pixels and cells. Confirm: compare the worst value with the bound in both
       units.
    3. A normalisation with an operator in the wrong place. Confirm: put the lowest and the highest raw value through
       it; the bounds should come out.
    4. The state is not clipped where the space says it is. Confirm: look for the clip in `step()`.

    ## What to try first
    Widen the bounds to what the dynamics can reach, or clip the observation.

    ## When it is fine
    A physical quantity that overshoots for a moment, as in a crash. Nothing is scaled by the bounds.

    ## References
    Gymnasium pull request 980 (the bounds of LunarLander).
    """

    code: ClassVar[str] = "ENV014"
    name: ClassVar[str] = "observation-out-of-bounds"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "EnvContract"
    follows: ClassVar[tuple[str, ...]] = ("PRE004",)

    share: float = 0.01  # of the observations; fewer are a note
    excess: float = 0.1  # beyond the bound, over the declared width; less is a note

    def check(self, evidence: EnvContract) -> Iterator[Finding]:
        if not evidence.outside:
            return
        worst = next((each for each in evidence.outside if each.discrete), evidence.outside[0])
        much = any(each.share >= self.share and each.excess >= self.excess for each in evidence.outside)
        others = len(evidence.outside) - 1
        more = f"; {others} other element{'s' if others > 1 else ''} too" if others else ""
        yield self.finding(
            f"{worst.part} leaves its declared bounds",
            where=evidence.where,
            seen=f"{worst.part} is {worst.worst:.4g} at the worst, outside in {worst.times} of {worst.of} "
            f"observations{more}",
            expected=f"from {worst.low:.4g} to {worst.high:.4g}",
            help="widen the bounds of observation_space to what can be reached, or clip the observation",
            confidence=0.95 if worst.discrete else 0.85,
            severity="error" if worst.discrete else "warning" if much else "note",
        )
