"""The policy loss has no minus: what is rewarded becomes less likely."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.flow import computed_from, meant
from rldebug.syntax.losses import Term, carries, expanded, minimised
from rldebug.syntax.names import library, method
from rldebug.syntax.numbers import number
from rldebug.syntax.places import calls
from rldebug.syntax.ratios import is_ratio, varies
from rldebug.syntax.sums import terms


@dataclass(frozen=True, kw_only=True)
class ReturnMinimised(Rule):
    """The policy loss has no minus: what is rewarded becomes less likely.

    ## What it checks
    A log-prob (or the ratio of two) is multiplied by data and reaches backward() without a minus on the way: neither at
    the loss, nor at the weight, nor `maximize=True`. Read from the source.

    ## Why it matters
    The optimizer minimises. Without the minus it lowers the probability of the actions that were worth most: the return
    falls to that of the worst policy, with healthy looking losses.

    ## Likely causes
    1. The minus is missing. Confirm: raise the advantage of one action by hand, its probability must rise.
    2. The objective of a paper, which is to be maximised, was taken as the loss. Confirm: read the line.

    ## What to try first
    `loss = -(log_prob * advantage).mean()`.

    ## When it is fine
    Where the weight is a cost, so that less of it is better.

    ## References
    Williams, *Simple statistical gradient-following algorithms for connectionist reinforcement learning*.
    """

    code: ClassVar[str] = "POL620"
    name: ClassVar[str] = "return-minimised"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("POL007", "POL013", "POL340")

    def check(self, evidence: Source) -> Iterator[Finding]:
        if not any(method(each) == "step" and not each.args for each in calls(evidence)):
            return  # weights are moved by hand: perhaps uphill
        told: set[ast.AST] = set()
        for _, parts in minimised(evidence):
            for term in parts:
                weight = next((each for each in _data(evidence, term) if not _opposite(evidence, each)), None)
                if weight is None or _sign(evidence, term) < 0 or term.leaf in told:
                    continue
                told.add(term.leaf)
                weighs = evidence.quoted(weight)
                yield self.finding(
                    f"the loss grows with {weighs}: actions with a high {weighs} are made less likely",
                    where=evidence.at(weight),
                    seen=f"{evidence.quoted(term.leaf)} times {weighs}, with no minus up to backward()",
                    expected="the loss falls where a rewarded action becomes more likely",
                    help="put a minus before the policy's part of the loss",
                    confidence=0.85,
                )


def _data(source: Source, term: Term, within_choice: bool = False) -> list[ast.expr]:
    """The weights of a score that are data. A ratio alone may be an estimate of a divergence."""
    leaf = term.leaf
    if _is_choice(source, leaf) and isinstance(leaf, ast.Call):
        inner = expanded(source, leaf.args[0])
        return _data(source, inner[0], True) if len(inner) == 1 else []
    data = [each for each in term.weights if varies(source, each)]
    rest = [number(source, each) for each in term.weights if each not in data]
    known = all(each is not None and each > 0 for each in rest)  # a factor of -1 may hide behind a name
    return data if known and (_scores_given(source, leaf) or (within_choice and is_ratio(source, leaf))) else []


def _sign(source: Source, term: Term) -> int:
    if _is_choice(source, term.leaf) and isinstance(term.leaf, ast.Call):
        return term.sign * _sign(source, expanded(source, term.leaf.args[0])[0])
    return term.sign


def _is_choice(source: Source, node: ast.expr) -> bool:
    return (
        library(source, node) in ("torch.min", "torch.max", "torch.minimum", "torch.maximum")
        and isinstance(node, ast.Call)
        and len(node.args) == 2
    )


def _scores_given(source: Source, node: ast.expr) -> bool:
    """A log-prob of an action that was taken; one that carries gradients itself belongs to other losses."""
    given = node.args[0] if isinstance(node, ast.Call) and node.args else None
    return method(node) == "log_prob" and given is not None and not carries(source, given)


def _opposite(source: Source, weight: ast.expr) -> bool:
    """Whether a weight may stand for something that is to be lowered: a minus in it, or `value - return`."""
    for each in computed_from(source, weight):
        if (
            isinstance(each, ast.UnaryOp)
            and isinstance(each.op, ast.USub)
            and not isinstance(each.operand, ast.Constant)
        ):
            return True
        if method(each) == "log_prob":
            return True  # the weight of a divergence, which is lowered by this very sign
        if method(each) == "neg" or library(source, each) in ("torch.neg", "torch.negative", "numpy.negative"):
            return True
    parts = list(terms(meant(source, weight)))
    from_network = {sign for sign, node in parts if _asked_of_network(source, node)}
    return 1 in from_network and any(sign < 0 for sign, _ in parts)


def _asked_of_network(source: Source, node: ast.expr) -> bool:
    inner = [each for each in ast.walk(node) if isinstance(each, ast.expr)]
    return any(carries(source, each) for each in inner)
