"""A target network is blended with shares that do not add up to one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.forensics.batches import owned
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class BlendDoesNotAddUp(Rule):
    """A target network is blended with shares that do not add up to one.

    ## What it checks
    Weights of a network that no optimizer holds become, down to rounding, a part of themselves plus a part of a trained
    network's. The two parts must add up to one. Here they do not, at every look. Exact.

    ## Why it matters
    The weights of the target network shrink to nothing or grow without end, and its values with them.

    ## Likely causes
    1. `tau` in both places, or `1 - tau` in both. Confirm: read the line.
    2. One of the two factors is missing. Confirm: the same.

    ## What to try first
    `target = (1 - tau) * target + tau * online`.

    ## When it is fine
    Nothing that is known of.

    ## References
    Lillicrap et al., *Continuous control with deep reinforcement learning*.
    """

    code: ClassVar[str] = "TGT371"
    name: ClassVar[str] = "blend-does-not-add-up"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "copies"

    looks: int = 3  # at the weights
    apart: float = 2e-3  # from one

    def check(self, evidence: Script) -> Iterator[Finding]:
        found: dict[tuple[str, str], list[tuple[float, float, int]]] = {}
        for _, event in evidence.events("blend"):
            key = (str(event["module"]), str(event["source"]))
            found.setdefault(key, []).append((float(event["keep"]), float(event["take"]), event.update))
        if not found:
            raise NotEnough("no network was seen to be blended with another")
        for (module, source), parts in found.items():
            if owned(evidence, module) or not owned(evidence, source) or len(parts) < self.looks:
                continue
            sums = np.array([keep + take for keep, take, _ in parts])
            takes = np.array([take for _, take, _ in parts])
            if np.abs(sums - 1.0).min() < self.apart or np.ptp(sums) > 0.2 or np.median(takes) <= 0:
                continue
            keep, take, update = parts[0]
            yield self.finding(
                f"{module} is blended with shares that add up to {np.median(sums):.3g}",
                where=Where(update=update),
                seen=f"{keep:.4g} of itself and {take:.4g} of {source}, at {len(parts)} looks",
                expected="shares that add up to 1",
                help="target = (1 - tau) * target + tau * online",
                confidence=0.95,
            )
            return
