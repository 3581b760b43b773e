"""Actions are chosen with gradients on, and nothing is made of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.evidence.timing import WORTH, Slice, Timing, total
from rldebug.evidence.timings.amounts import env_calls, of_the_run
from rldebug.evidence.timings.loops import down_to_network, in_network, node_of, places
from rldebug.evidence.timings.telling import lasting, weight
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import called, calls_of, reaching
from rldebug.syntax.flow import computed_from, returned
from rldebug.syntax.names import method, receiver
from rldebug.syntax.places import Function, calls, function_of


@dataclass(frozen=True, kw_only=True)
class GradientsKeptWhileActing(Rule):
    """Actions are chosen with gradients on, and nothing is made of them.

    ## What it checks
    Time in which networks choose actions with gradients on, though the loss calls the same networks again: then no
    graph of acting is ever used.

    ## Why it matters
    Each operation notes down what backward would need, and keeps it: that takes time at every step, and memory for as
    long as anything of it is held.

    ## Likely causes
    1. `torch.no_grad()` is missing around the line that chooses the action. Confirm: print
       `torch.is_grad_enabled()` there.

    ## What to try first
    Put `with torch.no_grad():` around it, or `@torch.no_grad()` above the function.

    ## When it is fine
    REINFORCE and A2C that keep log-probabilities with their graph, and learn from these: then nothing is said.

    ## References
    PyTorch, *Autograd mechanics: locally disabling gradient computation*.
    """

    code: ClassVar[str] = "PRF916"
    name: ClassVar[str] = "gradients-kept-while-acting"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Timing"

    most: float = 0.8  # of the time of acting networks, with gradients on
    otherwise: float = 0.85  # of a network's time is left, where it was not measured on this machine
    after: float = 0.9  # of the time is left for what is made of its output: distributions, samples

    def check(self, evidence: Timing) -> Iterator[Finding]:
        learning = evidence.of("loss", where=lambda each: each.grad and in_network(each))
        again = {name for each in learning if (name := _network(evidence, each))}
        found = evidence.of("acting", where=lambda each: each.grad and _network(evidence, each) in again)
        held = any(each.graphs > 1 for each in evidence.held)  # one is the last output that has a name
        if not found or held or _learned_from(evidence, found, learning):
            return
        if total(found) < self.most * total(evidence.of("acting", where=in_network)):
            return
        outside = evidence.of("acting", where=lambda each: each.grad and not in_network(each))
        seconds = total(found) + total(outside)
        measured = evidence.yardstick.get("acting")
        without, with_them = (measured.seconds, measured.instead or 0.0) if measured is not None else (0.0, 0.0)
        left = without / with_them if with_them else self.otherwise
        speedup = evidence.speedup(seconds, total(found) * left + total(outside) * self.after)
        if speedup < WORTH:
            return
        yield self.finding(
            "actions are chosen with gradients on, and nothing is made of them",
            where=evidence.where(down_to_network(each) for each in found),
            seen=f"{lasting(seconds / max(1, env_calls(evidence)))} per step to choose actions, with gradients on; "
            f"{of_the_run(evidence, seconds)}",
            expected=f"{measured.what}: {lasting(without)} without gradients, {lasting(with_them)} with them, here"
            if measured is not None and with_them
            else "about a sixth less without them",
            help="put `with torch.no_grad():` around the lines that choose an action",
            confidence=0.8,
            severity=weight(speedup),
            speedup=speedup,
        )


def _network(timing: Timing, piece: Slice) -> str:
    """What the user's code calls the network that is being called; nothing where none is."""
    spot = down_to_network(piece).user if in_network(piece) else None
    source = timing.source(spot.file) if spot is not None else None
    node = node_of(source, spot) if source is not None and spot is not None else None
    if isinstance(node, ast.Assign | ast.Return | ast.Expr):
        node = node.value  # where Python knows no more than the line
    return ast.unparse(node.func) if isinstance(node, ast.Call) else ""


def _learned_from(timing: Timing, acting: list[Slice], learning: list[Slice]) -> bool:
    """Whether the text says that a loss is computed from what the networks gave while acting. Of functions that both
    call, only the calls differ."""
    shared = {node for piece in learning for _, node in places(timing, piece)}
    nodes: dict[Source, set[ast.AST]] = {}
    for piece in acting:
        for source, node in places(timing, piece):
            if not _entered(source, node):
                nodes.setdefault(source, set()).add(node)
    return any((known - shared) & _reached(source, loss) for source, known in nodes.items() for loss in _losses(source))


def _entered(source: Source, node: ast.AST) -> bool:
    """A call of a function of this file, of which it is known what it gives back: what counts lies in there."""
    function = called(source, node) if isinstance(node, ast.Call) else None
    return function is not None and bool(returned(function))


def _reached(source: Source, loss: ast.expr) -> set[ast.expr]:
    """What gradients of a loss flow to. A function that acting calls as well, `score(mean, action)`, is given here what
    the calls in the loss give it."""
    everything = computed_from(source, loss, graph=True)
    entered = {function for each in everything if (function := _called(source, each)) is not None}

    def given(node: ast.expr) -> bool:
        bound = reaching(source, node) if isinstance(node, ast.Name) else ()
        return any(isinstance(each.node, ast.arg) for each in bound) and function_of(source, node) in entered

    found: set[ast.expr] = set()
    ahead = [loss]
    while ahead:
        part = set(computed_from(source, ahead.pop(), graph=True, until=given)) - found
        found |= part
        for each in part:
            if isinstance(each, ast.Call) and _called(source, each) is not None:
                ahead += [*each.args, *(key.value for key in each.keywords)]
    return found


def _called(source: Source, node: ast.expr) -> Function | None:
    """The function of this file that is called there, where others call it too."""
    function = called(source, node) if isinstance(node, ast.Call) else None
    return function if function is not None and len(calls_of(source, function)) > 1 else None


def _losses(source: Source) -> Iterator[ast.expr]:
    for call in calls(source):
        loss = receiver(call)
        if method(call) == "backward" and loss is not None:
            yield loss
