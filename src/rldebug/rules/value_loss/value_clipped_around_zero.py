"""The value is clipped around 0 and not around the old value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.surrogates import value_left
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ValueClippedAroundZero(Rule):
    """The clipped value lies around 0 and not around the old value.

    ## What it checks
    A value loss with a clipped prediction, whose bounds and numbers are known. The value of the loss, less its other
    terms, is compared with what it adds up to if the prediction itself is clamped to those bounds. Only losses that
    tell this from the plain squared difference count, and they must fit up to rounding.

    ## Why it matters
    Only the step from the old value was meant to be limited. So the value itself is: the critic cannot follow
    returns beyond the clip range, or gets no gradient where they are.

    ## Likely causes
    1. `clamp(value, -eps, eps)` in place of `old + clamp(value - old, -eps, eps)`. Confirm: read the line.

    ## What to try first
    Clip the difference to the old value, or leave the value unclipped.

    ## When it is fine
    Values that are bounded on purpose, with the targets in the same range: then nothing is clipped.

    ## References
    Engstrom et al., *Implementation Matters in Deep Policy Gradients* (2020).
    Seen in the wild: VAL-01 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "VAL331"
    name: ClassVar[str] = "value-clipped-around-zero"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    losses: int = 4  # with a clipped value that can be recomputed
    audits: int = 2  # in which the clipped range lies around 0
    exact: float = 2e-5  # relative
    apart: float = 1e-3  # relative: losses nearer to the plain squared difference tell nothing

    def check(self, evidence: Script) -> Iterator[Finding]:
        found: dict[str, list[Event]] = {}
        judged = 0
        numbers: set[int] = set()
        for audit in evidence.audits:
            for loss, terms in audit.losses:
                for term in terms:
                    hit = self._hit(loss, term, [each for each in terms if each is not term])
                    if hit is not None:
                        judged += 1
                        numbers |= {audit.number} if hit == "around 0" else set()
                        found.setdefault(hit, []).append(term)
        if judged < self.losses:
            raise NotEnough(f"{judged} losses with a clipped value that can be recomputed, needs {self.losses}")
        hits = found.get("around 0", [])
        # A critic that starts at exactly 0 has its old values there, in the first rollout.
        if len(hits) < max(self.losses, 0.8 * judged) or len(numbers) < self.audits:
            return
        low, high = hits[0]["clip"]
        yield self.finding(
            "the value is clipped to a range around 0, not around the old value",
            where=hits[0].where,
            seen=f"the loss adds up to that of values clamped to [{low:.3g}, {high:.3g}], "
            f"in {len(hits)} of {judged} losses",
            expected="old value + clamp(value − old value)",
            help="clamp the difference to the old value, not the value",
            confidence=0.96,
        )

    def _hit(self, loss: Event, term: Event, others: list[Event]) -> str | None:
        """What the loss adds up to; None where nothing can be told."""
        clip, arrays = term.get("clip"), term.arrays
        if term["kind"] != "regression" or not clip or None in clip or not {"prediction", "target"} <= arrays.keys():
            return None
        value, target = (np.ravel(arrays[name]).astype(np.float64) for name in ("prediction", "target"))
        if not len(value) == len(target) == int(term["rows"]) or {"weight", "mask"} & arrays.keys():
            return None
        scale = float(term["scale"])
        own = value_left(loss, term, others)
        plain, clipped = (value - target) ** 2, (np.clip(value, *clip) - target) ** 2
        size = abs(scale) * float(plain.sum())
        if own is None or not size > 0 or abs(own - scale * float(plain.sum())) < self.apart * size:
            return None
        for rows in (np.maximum(plain, clipped), clipped, np.minimum(plain, clipped)):
            if abs(own - scale * float(rows.sum())) < self.exact * max(size, abs(own)):
                return "around 0"
        return "otherwise"
