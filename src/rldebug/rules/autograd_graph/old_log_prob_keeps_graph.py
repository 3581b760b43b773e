"""The old log-probs of a ratio are stored with their graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.flow import computed_from, meant, put_in
from rldebug.syntax.kinds import kind
from rldebug.syntax.losses import carries
from rldebug.syntax.names import dotted, method
from rldebug.syntax.places import calls, without_graph
from rldebug.syntax.ratios import exponent
from rldebug.syntax.sums import terms


@dataclass(frozen=True, kw_only=True)
class OldLogProbKeepsGraph(Rule):
    """The old log-probs of a ratio are stored with their graph.

    ## What it checks
    In `exp(new - old)`, both log-probs lead to the weights of a network, and the old ones were put into a list or a
    buffer while acting, without `detach()` or `no_grad()`. Read from the source.

    ## Why it matters
    The gradients of new and old cancel in the first round: nothing is learned, or PyTorch stops in the second one with
    "trying to backward through the graph a second time". Until then every step of the rollout keeps its graph.

    ## Likely causes
    1. Acting is not under `no_grad()`. Confirm: print `old.requires_grad`.

    ## What to try first
    `with torch.no_grad():` around the acting, or `.detach()` where it is stored.

    ## When it is fine
    Nothing that is known of.

    ## References
    GRA-01 of bench/bugs.
    """

    code: ClassVar[str] = "GRA644"
    name: ClassVar[str] = "old-log-prob-keeps-graph"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("GRA006", "GRA401")

    def check(self, evidence: Source) -> Iterator[Finding]:
        told: set[ast.expr] = set()
        for call in calls(evidence):
            inner = exponent(evidence, call)
            if inner is None or without_graph(evidence, call):
                continue
            parts = list(terms(meant(evidence, inner)))
            old = [node for sign, node in parts if sign < 0]
            if len(parts) != 2 or len(old) != 1 or not all(carries(evidence, node) for _, node in parts):
                continue
            for stored in _stored(evidence, old[0]):
                if stored not in told:
                    told.add(stored)
                    yield self.finding(
                        f"{evidence.quoted(old[0])} is stored with its graph, and is the old side of a ratio",
                        where=evidence.at(stored),
                        seen=f"{evidence.quoted(stored)} is stored, and {evidence.quoted(inner)} on line {call.lineno}",
                        expected="old log-probs as plain numbers",
                        help=f"store {evidence.quoted(stored)}.detach(), or act under torch.no_grad()",
                        confidence=0.92,
                    )


def _stored(source: Source, old: ast.expr) -> Iterator[ast.expr]:
    """What is put with its graph into the lists that a value comes from."""
    for each in computed_from(source, old, graph=True):
        if dotted(each):
            yield from (one for one in put_in(source, each) if _live(source, one))


def _live(source: Source, node: ast.expr) -> bool:
    """A log-prob whose distribution comes from a network, with its graph all the way."""
    if without_graph(source, node):
        return False
    walked = computed_from(source, node, graph=True)
    answers = (each for each in walked if isinstance(each, ast.Call) and kind(source, each.func) == "module")
    return any(method(each) == "log_prob" for each in walked) and any(answers)
