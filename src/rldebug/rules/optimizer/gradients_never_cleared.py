"""An optimizer steps, and nobody ever clears its gradients."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import reaching
from rldebug.syntax.flow import looped
from rldebug.syntax.kinds import kind
from rldebug.syntax.names import argument, dotted, method, receiver
from rldebug.syntax.places import calls, parents, scope_of
from rldebug.syntax.training import backward_calls, handed_over, modules_in, optimizers, steps_of


@dataclass(frozen=True, kw_only=True)
class GradientsNeverCleared(Rule):
    """An optimizer steps, and nobody ever clears its gradients.

    ## What it checks
    An optimizer is made in this file and stepped, `backward()` is called, and neither it nor the networks it holds ever
    see `zero_grad()` in this file. Quiet where gradients are cleared by hand, come from `torch.autograd.grad`, or the
    optimizer is handed to somebody else. Read from the source.

    ## Why it matters
    Gradients add up from update to update: each step repeats all the steps before it, and the run diverges.

    ## Likely causes
    1. `zero_grad()` is missing. Confirm: look for it before `backward()`.
    2. With several optimizers, one is cleared twice and another never. Confirm: compare the names.

    ## What to try first
    `optimizer.zero_grad()` before each `loss.backward()`.

    ## When it is fine
    Where one update is all there is.

    ## References
    PyTorch, *What does zero_grad do?*
    """

    code: ClassVar[str] = "OPT640"
    name: ClassVar[str] = "gradients-never-cleared"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"

    def check(self, evidence: Source) -> Iterator[Finding]:
        cleared = {dotted(receiver(each) or each) for each in calls(evidence) if method(each) == "zero_grad"}
        if "" in cleared or not any(True for _ in backward_calls(evidence)) or _by_hand(evidence):
            return
        if not cleared:
            yield from self._in_a_container(evidence)
        for optimizer in optimizers(evidence):
            held = modules_in(evidence, optimizer.parameters)
            if held is None or _reaches(cleared, held) or optimizer.name in cleared:
                continue
            # Names that are no optimizer of this file may be this one, handed over.
            if any(kind(evidence, each) == "" for each in _receivers(evidence)):
                continue
            steps = steps_of(evidence, optimizer)
            if steps and not handed_over(evidence, optimizer):
                yield self.finding(
                    f"gradients of {optimizer.name} are never cleared: each step repeats all those before it",
                    where=evidence.at(steps[0]),
                    seen=f"{optimizer.name}.step() and backward(), and no zero_grad() on it or on {', '.join(held)}",
                    expected="gradients of one update only",
                    help=f"{optimizer.name}.zero_grad() before the backward() that it steps on",
                    confidence=0.93,
                )

    def _in_a_container(self, evidence: Source) -> Iterator[Finding]:
        """`for each in optimizers.values(): each.step()`, in a file without any zero_grad()."""
        for call in calls(evidence):
            on = receiver(call)
            container = _listed_in(evidence, on) if method(call) == "step" and on is not None else ""
            if on is not None and container:
                yield self.finding(
                    f"gradients of the optimizers in {container} are never cleared: each step repeats those before it",
                    where=evidence.at(call),
                    seen=f"{evidence.quoted(call)} and backward(), and no zero_grad() in the file",
                    expected="gradients of one update only",
                    help=f"{evidence.quoted(on)}.zero_grad() for each of them, before the backward()",
                    confidence=0.9,
                )


def _listed_in(source: Source, on: ast.expr) -> str:
    """The dict or list of this file that holds nothing but optimizers of networks, and that a loop takes one out of."""
    for binding in reaching(source, on):
        made = looped(source, binding)
        if not made or not all(isinstance(each, ast.Call) and kind(source, each) == "optimizer" for each in made):
            return ""
        if any(isinstance(each, ast.Call) and modules_in(source, argument(each, 0, "params")) is None for each in made):
            return ""
        over = binding.value
        name = dotted((receiver(over) if isinstance(over, ast.Call) else over) or on)
        uses = [node for node in ast.walk(scope_of(source, on)) if _reads(node, name)]
        if name and all(
            isinstance(parents(source).get(each), ast.Attribute | ast.Subscript | ast.For) for each in uses
        ):
            return name
    return ""


def _reads(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name | ast.Attribute) and dotted(node) == name and isinstance(node.ctx, ast.Load)


def _receivers(source: Source) -> Iterator[ast.expr]:
    for each in calls(source):
        on = receiver(each)
        if method(each) == "zero_grad" and on is not None:
            yield on


def _reaches(cleared: set[str], modules: list[str]) -> bool:
    """A network, a part of it, or what holds it, is cleared."""
    pairs = [(f"{one}.", f"{each}.") for one in modules for each in cleared]
    return any(one.startswith(each) or each.startswith(one) for one, each in pairs)


def _by_hand(source: Source) -> bool:
    """`p.grad = …`, `p.grad.zero_()`, `p.grad.data.zero_()`, `torch.autograd.grad`, or set_to_none somewhere."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Attribute) and node.attr in ("grad", "autograd"):
            above = parents(source).get(node)
            if isinstance(node.ctx, ast.Store) or node.attr == "autograd":
                return True
            if isinstance(above, ast.Attribute) and above.attr in ("zero_", "data", "detach_", "fill_", "copy_"):
                return True
    return False
