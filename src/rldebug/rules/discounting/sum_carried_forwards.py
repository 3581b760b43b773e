"""Returns are summed from the first step to the last."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.flow import meant
from rldebug.syntax.names import dotted, library, method
from rldebug.syntax.places import parents, scope_of
from rldebug.syntax.running import Running, container, running_sums


@dataclass(frozen=True, kw_only=True)
class SumCarriedForwards(Rule):
    """Returns are summed from the first step to the last.

    ## What it checks
    `for r in rewards: R = r + gamma * R`, with R kept for each step: the loop goes over the steps in their order, so
    that R holds what came before a step. The same for advantages, `A = delta + gamma * lam * A`. Read from the source.

    ## Why it matters
    A step is credited with the rewards of the past. Actions get no credit for what they lead to, and the policy learns
    to like whatever comes late in an episode.

    ## Likely causes
    1. `reversed()` is missing. Confirm: rewards of 0, 0, 1 must give returns of g², g, 1.

    ## What to try first
    `for r in reversed(rewards): R = r + gamma * R; returns.insert(0, R)`.

    ## When it is fine
    In a filter that looks back on purpose: a running statistic, an eligibility trace.

    ## References
    RWD-05 of bench/bugs. Sutton and Barto, *Reinforcement learning*, 3.3.
    """

    code: ClassVar[str] = "DIS620"
    name: ClassVar[str] = "sum-carried-forwards"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("DIS001", "DIS011", "DIS014", "DIS309", "ADV325")

    def check(self, evidence: Source) -> Iterator[Finding]:
        told: set[ast.AST] = set()
        for each in running_sums(evidence):
            if each.loop in told:
                continue
            if each.direction != "forwards" or not each.discount or not _bare(evidence, each):
                continue
            if all(_only_scales(evidence, each, statement) for statement, _ in each.kept):
                continue
            told.add(each.loop)
            yield self.finding(
                f"{each.name} is carried from the first step to the last: it holds the past of a step, not its future",
                where=evidence.at(each.loop),
                seen=f"for … in {evidence.quoted(each.loop.iter)}: {evidence.quoted(each.step)}",
                expected="the loop goes from the last step to the first",
                help="go over the steps with reversed(…), and put each result in front: insert(0, …)",
                confidence=0.88,
            )


def _bare(source: Source, each: Running) -> bool:
    """Whether what is added has a weight of one; `(1 - b) * x + b * R` is an average."""
    return any(
        not (isinstance(value := meant(source, one), ast.BinOp) and isinstance(value.op, ast.Mult))
        for one in each.added
    )


def _only_scales(source: Source, each: Running, statement: ast.stmt) -> bool:
    """Whether what is kept is only asked for its spread: rewards are scaled by it."""
    name = dotted(container(statement) or ast.Name("", ast.Load()))
    up = parents(source)
    uses = [
        node
        for node in ast.walk(scope_of(source, each.loop))
        if isinstance(node, ast.Name | ast.Attribute) and dotted(node) == name and isinstance(node.ctx, ast.Load)
    ]
    scales = others = 0
    for node in uses:
        parent = up.get(node)
        if isinstance(parent, ast.Attribute) and parent.attr in ("append", "insert", "appendleft"):
            continue
        call = up.get(parent) if isinstance(parent, ast.Attribute) else parent
        does = method(call) or library(source, call).rpartition(".")[2] if isinstance(call, ast.Call) else ""
        if does in ("std", "var", "update", "len", "max", "min"):
            scales += 1
        else:
            others += 1
    return scales > 0 and not others
