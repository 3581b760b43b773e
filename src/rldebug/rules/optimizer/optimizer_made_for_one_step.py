"""An optimizer is made, takes one step, and is thrown away."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import calls_of, reaching
from rldebug.syntax.flow import within
from rldebug.syntax.names import argument, constant, library
from rldebug.syntax.places import Function, loops_of, parents, scope_of
from rldebug.syntax.training import Optimizer, networks_in, optimizers, steps_of, uses


@dataclass(frozen=True, kw_only=True)
class OptimizerMadeForOneStep(Rule):
    """An optimizer is made, takes one step, and is thrown away.

    ## What it checks
    An optimizer that keeps a state (not plain SGD) is made in a loop, or in a function that is called in one, for a
    network that comes from outside; it steps there once and is used for nothing else. Read from the source.

    ## Why it matters
    Adam's running averages begin anew at every step: its first step has the size of the learning rate in every weight,
    whatever the gradient. Momentum never comes about, and schedules of the learning rate have no effect.

    ## Likely causes
    1. The line belongs before the loop, or in `__init__`. Confirm: print `len(optimizer.state)` before the step.

    ## What to try first
    Make the optimizer once, where the network is made.

    ## When it is fine
    Where a network is fitted to each batch from scratch.

    ## References
    Kingma & Ba, *Adam: a method for stochastic optimization*.
    """

    code: ClassVar[str] = "OPT645"
    name: ClassVar[str] = "optimizer-made-for-one-step"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("OPT314",)

    def check(self, evidence: Source) -> Iterator[Finding]:
        for optimizer in optimizers(evidence):
            if not _keeps_a_state(evidence, optimizer) or not _only_steps(evidence, optimizer):
                continue
            again = _repeated(evidence, optimizer)
            steps = [each for each in steps_of(evidence, optimizer) if _together(evidence, each, optimizer.made)]
            if not again or len(steps) != 1 or len(steps_of(evidence, optimizer)) != 1:
                continue
            yield self.finding(
                f"{optimizer.name} is made anew for every step: what it has learned of the gradients is lost",
                where=evidence.at(optimizer.made),
                seen=f"{evidence.quoted(optimizer.made)}, {again}, and one step on line {steps[0].lineno}",
                expected="one optimizer for all updates",
                help=f"make {optimizer.name} once, where the network is made",
                confidence=0.92,
            )


def _keeps_a_state(source: Source, optimizer: Optimizer) -> bool:
    name = library(source, optimizer.made).rpartition(".")[2]
    if name == "SGD":
        momentum = argument(optimizer.made, 2, "momentum")
        return momentum is not None and constant(momentum) != 0
    return name != "LBFGS"  # goes many rounds in one step


def _only_steps(source: Source, optimizer: Optimizer) -> bool:
    """Nobody keeps it, loads its state, or hands it on."""
    above = [parents(source).get(each) for each in uses(source, optimizer)]
    return all(isinstance(each, ast.Attribute) and each.attr in ("step", "zero_grad") for each in above)


def _repeated(source: Source, optimizer: Optimizer) -> str:
    """Why the line runs again and again for one and the same network; empty where it may not."""
    networks = networks_in(source, optimizer.parameters)
    if not networks:
        return ""
    loops = loops_of(source, optimizer.made)
    scope = scope_of(source, optimizer.made)
    around: ast.AST = loops[0] if loops else scope
    for network in networks:
        places = reaching(source, network)
        if not places or any(within(around, each.node) and not isinstance(each.node, ast.arg) for each in places):
            return ""  # made in there as well
    if loops:
        return f"in the loop of line {loops[0].lineno}"
    if isinstance(scope, Function) and any(loops_of(source, each) for each in calls_of(source, scope)):
        return f"in {scope.name}(), which is called in a loop"
    return ""


def _together(source: Source, step: ast.Call, made: ast.Call) -> bool:
    """In the same function and in the same loops."""
    return scope_of(source, step) is scope_of(source, made) and loops_of(source, step) == loops_of(source, made)
