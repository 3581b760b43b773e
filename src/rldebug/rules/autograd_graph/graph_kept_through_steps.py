"""One graph is backpropagated again after each step of the optimizer."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.flow import computed_from, within
from rldebug.syntax.losses import leads
from rldebug.syntax.names import argument, constant, receiver
from rldebug.syntax.places import before, calls_in, loops_of, scope_of
from rldebug.syntax.training import backward_calls, event


@dataclass(frozen=True, kw_only=True)
class GraphKeptThroughSteps(Rule):
    """One graph is backpropagated again after each step of the optimizer.

    ## What it checks
    In a loop that steps an optimizer, `backward(retain_graph=True)` is called on a loss all of whose network outputs
    were computed before the loop. Read from the source.

    ## Why it matters
    After the first step the weights are others than those the graph was recorded with: the gradient belongs to no
    network, or PyTorch complains of a variable that was modified in place. `retain_graph=True` silences the error that
    said so.

    ## Likely causes
    1. The forward pass belongs into the loop. Confirm: look where the network is called.

    ## What to try first
    Compute values and log-probs anew in each round, and drop `retain_graph=True`.

    ## When it is fine
    Nothing that is known of.

    ## References
    VAL-02 of bench/bugs.
    """

    code: ClassVar[str] = "GRA645"
    name: ClassVar[str] = "graph-kept-through-steps"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("GRA401", "GRA402", "GRA006")

    def check(self, evidence: Source) -> Iterator[Finding]:
        for call in backward_calls(evidence):
            keeps = argument(call, 1, "retain_graph")
            loops = loops_of(evidence, call)
            loss = receiver(call)
            if constant(keeps) is not True or not loops or loss is None:
                continue
            loop = next((each for each in loops if _steps(evidence, each)), None)
            if loop is None:
                continue
            answers = [each for each in computed_from(evidence, loss, graph=True) if leads(evidence, each)]
            here = scope_of(evidence, call)
            early = [each for each in answers if scope_of(evidence, each) is here and _before(each, loop)]
            if answers and len(early) == len(answers):
                # Collected over a loop of its own, as log-probs are while acting: it cannot be moved into this one.
                collected = any(each not in loops_of(evidence, loop) for each in loops_of(evidence, early[0]))
                yield self.finding(
                    f"the forward pass of line {early[0].lineno} is backpropagated in each round of the loop",
                    where=evidence.at(call),
                    seen=f"{evidence.quoted(early[0])} before the loop of line {loop.lineno} and its step()",
                    expected="a forward pass for each step",
                    help="add up the losses, and call backward() and step() once after the loop; or compute "
                    "anew from stored observations in each round"
                    if collected
                    else f"move line {early[0].lineno} into the loop, and drop retain_graph=True",
                    confidence=0.92,
                )


def _steps(source: Source, loop: ast.AST) -> bool:
    return any(event(source, each) == "step" for each in calls_in(loop))


def _before(node: ast.expr, loop: ast.AST) -> bool:
    return before(node, loop) and not within(loop, node)
