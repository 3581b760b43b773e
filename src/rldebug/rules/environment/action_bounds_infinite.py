"""A continuous action has no finite bounds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_contract import EnvContract
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class ActionBoundsInfinite(Rule):
    """A continuous action has no finite bounds.

    ## What it checks
    The bounds of the action space.

    ## Why it matters
    Squashed policies need a range to squash into, and random warm-up samples from an unbounded space are arbitrary in
    size.

    ## Likely causes
    1. The bounds were left out where the space was written down. Confirm: print `env.action_space`.
    2. A wrapper that rescales actions took them away. Confirm: print the action space below it.

    ## What to try first
    Declare the bounds that the environment clips at.

    ## When it is fine
    A plain Gaussian policy, and dynamics that take any number.

    ## References
    Stable-Baselines3, *Reinforcement learning tips and tricks*.
    """

    code: ClassVar[str] = "ENV022"
    name: ClassVar[str] = "action-bounds-infinite"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "EnvContract"

    def check(self, evidence: EnvContract) -> Iterator[Finding]:
        if evidence.unbounded:
            yield self.finding(
                "the action space has no finite bounds",
                where=evidence.where,
                seen=f"{evidence.action_space}: {', '.join(evidence.unbounded)}",
                expected="finite bounds",
                help="declare bounds, best -1 and 1, and rescale in step()",
                confidence=0.9,
            )
