"""A wrapper that repeats actions returns the reward of the last repetition only."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.names import dotted
from rldebug.syntax.places import own_nodes
from rldebug.syntax.repeated import repeated, uses


@dataclass(frozen=True, kw_only=True)
class SkippedRewardsLost(Rule):
    """A wrapper that repeats actions returns the last reward only.

    ## What it checks
    A `step()` that calls `step()` of the environment inside it several times with the same action, and returns the
    reward of the last of these calls: nothing in the loop reads the others. Read from the source.

    ## Why it matters
    What is earned in between is never paid. A goal that is scored in the second of four frames is worth nothing, and
    the return is not that of the environment.

    ## Likely causes
    1. The line that adds the reward up is missing, or the wrong name is returned. Confirm: compare the return of one
       episode with and without the wrapper.

    ## What to try first
    `total += reward` in the loop, and return the total.

    ## When it is fine
    The reward says where things stand, not what was earned, and only the last is meant.

    ## References
    Mnih et al., *Human-level control through deep reinforcement learning*: frame skipping. Seen in the wild: WRP-04 of
    bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "ENV609"
    name: ClassVar[str] = "skipped-rewards-lost"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Source"

    def check(self, evidence: Source) -> Iterator[Finding]:
        for step, loop, function in repeated(evidence):
            reward = step.named("reward")
            if not reward or uses(loop, reward):
                continue
            for node in own_nodes(function):
                if not (isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple)):
                    continue
                if len(node.value.elts) in (4, 5) and dotted(node.value.elts[1]) == reward:
                    yield self.finding(
                        f"{evidence.quoted(step.call)} is repeated, and only the last {reward} is returned",
                        where=evidence.at(node),
                        seen=f"nothing in the loop adds {reward} up",
                        expected="the sum of what all repetitions earned",
                        help=f"add {reward} up in the loop, and return the sum",
                        confidence=0.85,
                    )
                    break
