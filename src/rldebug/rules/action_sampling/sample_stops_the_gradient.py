"""The actor climbs the critic through `sample()`, which has no gradient."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.answers import asked
from rldebug.syntax.flow import answer_parts, computed_from, meant
from rldebug.syntax.names import dotted, library, method, receiver
from rldebug.syntax.places import without_graph
from rldebug.syntax.training import backward_calls


@dataclass(frozen=True, kw_only=True)
class SampleStopsTheGradient(Rule):
    """The actor climbs the critic through `sample()`, which has no gradient.

    ## What it checks
    A loss is minus the answer of a network that is given an action drawn by `sample()` from a normal distribution,
    and gradients are on. Read from the source.

    ## Why it matters
    `sample()` cuts the graph: the critic cannot tell the actor how the action should change. The actor learns
    nothing from that term, though its loss moves, because the critic does.

    ## Likely causes
    1. `rsample()` was meant. Confirm: `action.requires_grad` is False.

    ## What to try first
    `pi.rsample()`.

    ## When it is fine
    Nothing that is known of.

    ## References
    Haarnoja et al., *Soft actor-critic*. PyTorch, *torch.distributions: pathwise derivative*.
    """

    code: ClassVar[str] = "ACT606"
    name: ClassVar[str] = "sample-stops-the-gradient"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("POL014", "GRA407")

    def check(self, evidence: Source) -> Iterator[Finding]:
        told: set[ast.AST] = set()
        for backward in backward_calls(evidence):
            loss = receiver(backward)
            if loss is None or any(_squares(each) for each in computed_from(evidence, loss, graph=True)):
                continue
            for answer in _subtracted(evidence, loss):
                if _weighs_log_prob(evidence, loss, answer):
                    continue
                for drawn in _drawn_in(evidence, answer):
                    if drawn in told:
                        continue
                    told.add(drawn)
                    right = f"{evidence.quoted(receiver(drawn) or drawn)}.rsample()"
                    yield self.finding(
                        f"{evidence.quoted(drawn)} lets no gradient pass from {evidence.quoted(answer)} to the actor",
                        where=evidence.at(drawn),
                        seen=f"{evidence.quoted(drawn)}, and a loss of minus {evidence.quoted(answer)}",
                        expected=right,
                        help=right,
                        confidence=0.93,
                        edits=(evidence.replaced(drawn, right),) if dotted(receiver(drawn) or drawn) else (),
                    )


def _squares(node: ast.expr) -> bool:
    """Part of a squared error, which may well be about an action that was only drawn."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        return True
    name = method(node) or (dotted(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else "")
    return name in ("pow", "square", "mse_loss", "smooth_l1_loss", "huber_loss", "l1_loss")


def _weighs_log_prob(source: Source, loss: ast.expr, answer: ast.Call) -> bool:
    """Whether an answer is a weight of log-probs: then sample() is as it should be."""
    for each in computed_from(source, loss, graph=True):
        if isinstance(each, ast.BinOp) and isinstance(each.op, ast.Mult):
            for one, other in ((each.left, each.right), (each.right, each.left)):
                scores = any(method(part) == "log_prob" for part in computed_from(source, other))
                if scores and answer in computed_from(source, one):
                    return True
    return False


def _subtracted(source: Source, loss: ast.expr) -> Iterator[ast.Call]:
    """The answers of networks that a loss contains with a minus before them, and that gradients reach."""
    for each in computed_from(source, loss, graph=True):
        if isinstance(each, ast.UnaryOp) and isinstance(each.op, ast.USub):
            yield from asked(source, each.operand, graph=True)
        elif isinstance(each, ast.BinOp) and isinstance(each.op, ast.Sub):
            yield from asked(source, each.right, graph=True)


def _drawn_in(source: Source, answer: ast.Call) -> Iterator[ast.Call]:
    """Samples of normal distributions of a network that the answer is given, with gradients on."""
    for value in [*answer.args, *(each.value for each in answer.keywords)]:
        inside = computed_from(source, value)
        parts = [one for each in inside for part in answer_parts(source, each) for one in computed_from(source, part)]
        for each in (*inside, *parts):
            pi = receiver(each) if method(each) == "sample" else None
            if (
                isinstance(each, ast.Call)
                and pi is not None
                and _normal(source, pi)
                and not without_graph(source, each)
            ):
                yield each


def _normal(source: Source, pi: ast.expr) -> bool:
    made = meant(source, pi)
    name = library(source, made).rpartition(".")[2]
    of_network = isinstance(made, ast.Call) and any(asked(source, each, graph=True) for each in made.args)
    return name in ("Normal", "MultivariateNormal", "Independent") and of_network
