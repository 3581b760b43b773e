"""The future is multiplied by the flag of the end itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.answers import bootstrap
from rldebug.syntax.stepping import steps
from rldebug.syntax.sums import factors
from rldebug.syntax.transitions import FLAGS, part


@dataclass(frozen=True, kw_only=True)
class EndFlagNotInverted(Rule):
    """The future is multiplied by the flag of the end itself.

    ## What it checks
    `target = r + gamma * done * net(next)`: the factor is a flag that env.step() gave, followed through memories and
    tensors, and not one minus it. Read from the source.

    ## Why it matters
    Only terminal states get a future, all others get none: nothing but the next reward is learned, and garbage at the
    ends of episodes.

    ## Likely causes
    1. The name suggests a mask, the value is the flag. Confirm: print it for the last step of an episode.

    ## What to try first
    `(1 - done)`.

    ## When it is fine
    Where the environment gives "goes on" in the place of "ended".

    ## References
    Mnih et al., *Human-level control through deep reinforcement learning*.
    """

    code: ClassVar[str] = "DIS625"
    name: ClassVar[str] = "end-flag-not-inverted"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("DIS010", "DIS011", "DIS014", "DIS302")

    def check(self, evidence: Source) -> Iterator[Finding]:
        told: set[ast.AST] = set()
        for node in ast.walk(evidence.tree) if steps(evidence) else ():
            term = bootstrap(evidence, node) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) else None
            if term is None:
                continue
            for factor in factors(term)[1]:
                found = part(evidence, factor)
                if not found or found - FLAGS or factor in told:
                    continue
                told.add(factor)
                where, flag = evidence.at(factor), evidence.quoted(factor)
                yield self.finding(
                    f"the value of the next state counts only where {flag} is true: at the end of an episode",
                    where=where,
                    seen=evidence.quoted(node),
                    expected=f"the future counts where {flag} is false",
                    help=f"(1 - {flag})",
                    confidence=0.93,
                )
