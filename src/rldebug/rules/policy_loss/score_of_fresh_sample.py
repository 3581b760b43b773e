"""The loss scores an action that was drawn for it, and never taken."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import reaching
from rldebug.syntax.flow import computed_from
from rldebug.syntax.names import constant, dotted, library, method, receiver
from rldebug.syntax.numbers import number
from rldebug.syntax.places import above, scope_of
from rldebug.syntax.training import backward_calls

_TENSORS = ("torch.tensor", "torch.as_tensor", "torch.stack", "torch.cat", "torch.FloatTensor", "torch.from_numpy")
_AVERAGES = ("mean", "sum", "unsqueeze", "squeeze", "view", "reshape", "flatten", "unbind")


@dataclass(frozen=True, kw_only=True)
class ScoreOfFreshSample(Rule):
    """The loss scores an action that was drawn for it, and never taken.

    ## What it checks
    `dist.log_prob(dist.sample())` in what `backward()` is called on, multiplied with something that was measured: an
    advantage, a return. The sample has no other use: it stands in the call itself, or its name is only used there.
    Read from the source.

    ## Why it matters
    The advantage belongs to the action that was taken. An action that was drawn anew has nothing to do with it: the
    gradient is zero on average, and the policy wanders at random.

    ## Likely causes
    1. The stored actions were forgotten when the log-probs were computed anew. Confirm: print both.

    ## What to try first
    `dist.log_prob(actions)` with the actions that were executed.

    ## When it is fine
    An estimate of the entropy, which is multiplied with a number, and is not meant.

    ## References
    Williams 1992, *Simple statistical gradient-following algorithms* (REINFORCE).
    """

    code: ClassVar[str] = "POL450"
    name: ClassVar[str] = "score-of-fresh-sample"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"

    def check(self, evidence: Source) -> Iterator[Finding]:
        told: set[ast.AST] = set()
        for backward in backward_calls(evidence):
            loss = backward.args[0] if backward.args else receiver(backward)
            for node in computed_from(evidence, loss, graph=True) if loss is not None else ():
                if node in told or not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
                    continue
                for score, weight in ((node.left, node.right), (node.right, node.left)):
                    call = _fresh(evidence, score)
                    if call is None or call in told or not _measured(evidence, weight):
                        continue
                    told |= {node, call}
                    yield self.finding(
                        "the loss scores an action that was drawn for it, and never taken",
                        where=evidence.at(call),
                        seen=f"{evidence.quoted(call)}, times {evidence.quoted(weight)}",
                        expected="the log-prob of the action that was executed",
                        help="give log_prob() the stored actions",
                        confidence=0.93,
                    )


def _fresh(source: Source, score: ast.expr, depth: int = 4) -> ast.Call | None:
    """A log_prob() of a sample that nothing else uses, which this is, up to its shape."""
    if isinstance(score, ast.UnaryOp):
        return _fresh(source, score.operand, depth)
    if isinstance(score, ast.Name) and depth:
        found = [each.whole for each in reaching(source, score)]
        return _fresh(source, found[0], depth - 1) if len(found) == 1 and found[0] is not None else None
    if not isinstance(score, ast.Call):
        return None
    on = receiver(score)
    if method(score) in _AVERAGES and not library(source, score) and on is not None:
        return _fresh(source, on, depth)
    given = score.args[0] if len(score.args) == 1 else None
    if method(score) != "log_prob" or library(source, score) or given is None or on is None:
        return None
    return score if _drawn(source, given, on) else None


def _drawn(source: Source, given: ast.expr, dist: ast.expr) -> bool:
    if isinstance(given, ast.Call):
        drawn = receiver(given)
        return (
            method(given) == "sample" and not given.args and drawn is not None and dotted(drawn) == dotted(dist) != ""
        )
    if not isinstance(given, ast.Name):
        return False
    found = reaching(source, given)
    made = found[0].whole if len(found) == 1 else None
    if not isinstance(made, ast.Call) or not _drawn(source, made, dist):
        return False
    uses = [
        each
        for each in ast.walk(scope_of(source, given))
        if isinstance(each, ast.Name) and each.id == given.id and isinstance(each.ctx, ast.Load)
    ]
    # Where it is used for anything but its score, it may be what is executed.
    return all(method(next(iter(above(source, each)))) == "log_prob" for each in uses)


def _measured(source: Source, weight: ast.expr) -> bool:
    """Whether it is more than a number, as a temperature is: a difference, or a tensor made of what was collected."""
    if constant(weight) is not None or number(source, weight) is not None:
        return False
    for each in computed_from(source, weight):
        if isinstance(each, ast.BinOp) and isinstance(each.op, ast.Sub):
            return True
        if isinstance(each, ast.Call) and library(source, each) in _TENSORS:
            return not each.args or number(source, each.args[0]) is None
    return False
