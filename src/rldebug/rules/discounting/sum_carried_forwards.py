"""Returns are summed from the first step to the last."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import bound_in, reaching
from rldebug.syntax.flow import meant, put_in
from rldebug.syntax.names import constant, library, receiver, resolved
from rldebug.syntax.order import only_summed_up
from rldebug.syntax.places import class_of, loops_of, scope_of
from rldebug.syntax.running import Running, container, running_sums
from rldebug.syntax.stepping import roles


@dataclass(frozen=True, kw_only=True)
class SumCarriedForwards(Rule):
    """Returns are summed from the first step to the last.

    ## What it checks
    `for r in rewards: R = r + gamma * R`, with R kept for each step: the loop goes over the steps in their order, so
    that R holds what came before a step. The same for advantages, `A = delta + gamma * lam * A`. Nothing is said where
    what is kept only becomes a mean, a spread or a line of a report, where the sum goes on from one rollout to the
    next, and of averages and of sums in a network, of noise or of observations. Read from the source.

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
            if _averages(each) or _goes_on(evidence, each) or _no_reward(evidence, each):
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
    """Whether what is kept only becomes a number about all of it, such as its spread: rewards are scaled by that."""
    made = container(statement)
    return made is not None and only_summed_up(source, made)


def _averages(each: Running) -> bool:
    """Whether what is kept is divided by the sum of the weights: an average over the past, `(1 - b) * total`."""
    shares = [ast.dump(one) for one in each.discount]
    return all(
        any(
            isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.Sub)
            and constant(node.left) == 1
            and any(ast.dump(one) in shares for one in ast.walk(node.right))
            for node in ast.walk(statement)
        )
        for statement, _ in each.kept
    )


def _goes_on(source: Source, each: Running) -> bool:
    """Whether the sum is carried from one round of the loop around it to the next: a filter that never begins anew, and
    no return, which begins with its rollout."""
    outer = next(iter(loops_of(source, each.loop)), None)
    inside = set(ast.walk(outer)) - set(ast.walk(each.loop)) if outer is not None else set()
    within = bound_in(source, scope_of(source, each.loop)).get(each.name, [])
    return outer is not None and bool(within) and not any(one.node in inside for one in within)


def _no_reward(source: Source, each: Running) -> bool:
    """Whether what is summed cannot be rewards: numbers that were drawn, observations; or the network itself sums."""
    owner = class_of(source, each.loop)
    if owner is not None and any(resolved(source, one) == "torch.nn.Module" for one in owner.bases):
        return True
    return all(_drawn(source, one) or _observed(source, one) for one in each.added)


def _drawn(source: Source, node: ast.expr, depth: int = 6) -> bool:
    if depth <= 0:
        return False
    if isinstance(node, ast.Subscript):
        return _drawn(source, node.value, depth - 1)
    if isinstance(node, ast.Name | ast.Attribute):
        values = [one.value for one in reaching(source, node) if one.how in ("assigned", "looped")]
        return bool(values) and all(one is not None and _drawn(source, one, depth - 1) for one in values)
    made = receiver(node)
    inner = library(source, meant(source, made)) if made is not None else ""
    return (library(source, node) or inner).startswith(("numpy.random.", "torch.rand", "torch.normal", "random."))


def _observed(source: Source, node: ast.expr) -> bool:
    inner = node.value if isinstance(node, ast.Subscript) else node
    told = {frozenset(roles(source, one)) for one in (inner, *put_in(source, inner))} - {frozenset[str]()}
    return bool(told) and all(one == {"observation"} for one in told)
