"""A soft update keeps little of the target and takes much of the other."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.copies import adds_up, copies, mixed


@dataclass(frozen=True, kw_only=True)
class BlendRatesSwapped(Rule):
    """A soft update keeps little of the target and takes much of the other.

    ## What it checks
    `target = tau * target + (1 - tau) * net` with a small tau: the network that is written keeps less than a third of
    itself. Read from the source, where the rate is a number in the text.

    ## Why it matters
    The target is almost a copy of the online network after every update. It no longer holds still, and bootstrapping
    from it is as unstable as without a target network.

    ## Likely causes
    1. The two rates stand at the wrong networks. Confirm: the rate is meant as "how much is taken".
    2. A rate like 0.995 is handed to a function that wants 0.005, or the other way round. Confirm: read its formula.

    ## What to try first
    `target = (1 - tau) * target + tau * net`, with tau = 0.005.

    ## When it is fine
    Where the network that is written is meant to follow at once; a hard copy says so more plainly.

    ## References
    Lillicrap et al., *Continuous control with deep reinforcement learning*.
    """

    code: ClassVar[str] = "TGT623"
    name: ClassVar[str] = "blend-rates-swapped"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("TGT002", "TGT302")

    least_kept: float = 0.34  # share of its own weights that a target keeps at least

    def check(self, evidence: Source) -> Iterator[Finding]:
        for copy in copies(evidence):
            kept = mixed(evidence, copy, old=1.0, new=0.0)
            if kept is None or not 0.0 < kept < self.least_kept or not adds_up(evidence, copy):
                continue
            into, origin = evidence.quoted(copy.into), evidence.quoted(copy.origin)
            blend = evidence.quoted(copy.blend) if copy.blend is not None and _written(copy.blend) else "the update"
            yield self.finding(
                f"{into} keeps {kept:.3g} of its weights and takes {1 - kept:.3g} of {origin} at every update",
                where=evidence.at(copy.node),
                seen=blend if blend != "the update" else evidence.quoted(copy.node),
                expected=f"{into} keeps most of itself: {1 - kept:.3g} of it, {kept:.3g} of {origin}",
                help="swap the two rates, or hand over the other one",
                confidence=0.85,
            )


def _written(node: ast.expr) -> bool:
    """Whether it stands in the text as it is: lerp_() and the like are put into a formula of ours."""
    return hasattr(node, "lineno")
