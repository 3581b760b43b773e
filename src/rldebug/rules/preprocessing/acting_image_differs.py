"""Pictures enter the network in one way to act, and in another to learn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.batches import owned
from rldebug.forensics.populations import Population, populations
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ActingImageDiffers(Rule):
    """Pictures enter the network otherwise to act than to learn.

    ## What it checks
    The pictures that a network, and its target network, are given to act, to learn and to make targets are compared:
    their brightest elements differ by a large factor; or they are found again among the observations when learning,
    under a known way of scaling and turning them, and never when acting.

    ## Why it matters
    The network acts on pictures of a kind it has never learned from.

    ## Likely causes
    1. `/ 255` is in one of the two places only. Confirm: print the largest element at both calls.
    2. The axes are permuted in different orders; `transpose(1, 3)` is not `permute(0, 3, 1, 2)`. Confirm: plot both
       inputs.

    ## What to try first
    One function that prepares observations, used wherever the network is called; or do it in the network's `forward`.

    ## When it is fine
    Random crops and shifts when learning change pictures, not their range.

    ## References
    Seen in the wild: PRE-01, PRE-04, PRE-09 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "PRE301"
    name: ClassVar[str] = "acting-image-differs"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    rows: int = 16  # of each use
    factor: float = 20.0  # between the brightest elements
    found: float = 0.9  # of the rows are found again in one use, and none in the other

    def check(self, evidence: Script) -> Iterator[Finding]:
        mine = [
            each for each in populations(evidence) if each.wide and len(each.rows) >= self.rows and len(each.shape) >= 2
        ]
        acting = [each for each in mine if each.use == "acting"]
        others = [each for each in mine if each.use in ("learning", "other")]
        if not acting or not others:
            raise NotEnough("no network with pictures was seen both acting and learning")
        for act in acting:
            for other in others:
                related = other.module == act.module or _stands_for(evidence, other.module, act.module)
                if not related or other.shape[:1] != act.shape[:1] or sorted(other.shape) != sorted(act.shape):
                    continue
                told = self._scale(act, other) or (self._turned(act, other) if other.module == act.module else None)
                if told is not None:
                    yield self.finding(
                        "pictures enter the network in one way to act, and in another to learn",
                        where=other.first.where,
                        seen=told,
                        expected="the same preparation at every call",
                        help="prepare observations in one function, or in the network's forward",
                        confidence=0.96,
                    )
                    return

    def _scale(self, act: Population, other: Population) -> str | None:
        here, there = (float(np.percentile(np.abs(each.rows[:, :2]).max(axis=1), 90)) for each in (act, other))
        if min(here, there) <= 0 or max(here / there, there / here) < self.factor:
            return None
        what = "to learn" if other.use == "learning" else "to make targets"
        return f"elements up to {here:.3g} to act, up to {there:.3g} {what}"

    def _turned(self, act: Population, other: Population) -> str | None:
        plain = act.ways.get("alias", 0) + act.ways.get("none", 0)
        if plain < self.found * sum(act.ways.values()) or other.found < self.found or other.audits < 2:
            return None
        if other.ways.get("alias", 0) + other.ways.get("none", 0) > 0.02 * sum(other.ways.values()):
            return None
        return f"{other.found:.0%} of the pictures to learn from are observations as they came, none of those to act on"


def _stands_for(script: Script, module: str, of: str) -> bool:
    """A target network of it: not trained, and made alike. A part of a network is given what the whole has prepared."""
    one, two = (script.modules.get(each, {}) for each in (module, of))
    return not owned(script, module) and one.get("parameters") == two.get("parameters")
