"""Gradients flow through the bootstrapped target."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.answers import asked, bootstraps, network, same_value
from rldebug.syntax.names import dotted
from rldebug.syntax.regressions import regressions


@dataclass(frozen=True, kw_only=True)
class TargetNotCutOff(Rule):
    """Gradients flow through the bootstrapped target.

    ## What it checks
    A squared error compares the answer of a network with `r + gamma * answer` of the same network for something else,
    and the second one is neither detached nor under `torch.no_grad()`. Read from the source.

    ## Why it matters
    The loss also becomes small when the value of the next state moves towards that of this one. What is learned is a
    mix of both; it is slow at best, and often diverges.

    ## Likely causes
    1. `.detach()` or `with torch.no_grad():` is missing. Confirm: `target.requires_grad` is True at the loss.

    ## What to try first
    `with torch.no_grad(): target = r + gamma * (1 - done) * net(next_obs).max(1).values`.

    ## When it is fine
    In residual-gradient algorithms, which mean it.

    ## References
    TGT-13 of bench/bugs. Baird, *Residual algorithms*.
    """

    code: ClassVar[str] = "VAL620"
    name: ClassVar[str] = "target-not-cut-off"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("VAL300", "TGT004", "GRA006")

    def check(self, evidence: Source) -> Iterator[Finding]:
        told: set[ast.AST] = set()
        for each in regressions(evidence):
            for guess, goal in ((each.left, each.right), (each.right, each.left)):
                mine = {
                    dotted(net): call for call in asked(evidence, guess, graph=True) if (net := network(evidence, call))
                }
                if not mine or any(bootstraps(evidence, guess)):
                    continue
                for total, term in bootstraps(evidence, goal):
                    live = set(asked(evidence, goal, graph=True)) & set(asked(evidence, term, graph=True))
                    for call in sorted(live, key=lambda one: one.lineno):
                        name = dotted(network(evidence, call) or call)
                        if name not in mine or total in told or _same_call(evidence, call, mine[name]):
                            continue
                        told.add(total)
                        yield self.finding(
                            f"gradients reach {name} through the target too: {evidence.quoted(call)} is not detached",
                            where=evidence.at(call),
                            seen=f"{evidence.quoted(total)} in the loss of line {each.node.lineno}",
                            expected="the target is a constant for the optimizer",
                            help=f"with torch.no_grad(): … {evidence.quoted(total)}",
                            confidence=0.9,
                        )


def _same_call(source: Source, one: ast.Call, other: ast.Call) -> bool:
    return one is other or same_value(source, one, other)
