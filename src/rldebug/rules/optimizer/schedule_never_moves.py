"""A schedule of the learning rate is made, and never moved on."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import Binding, bound_in
from rldebug.syntax.names import dotted, library
from rldebug.syntax.places import Function, class_of, parents

_ONLY_LOOKS = ("get_last_lr", "last_epoch", "base_lrs", "state_dict", "load_state_dict")


@dataclass(frozen=True, kw_only=True)
class ScheduleNeverMoves(Rule):
    """A schedule of the learning rate is made, and never moved on.

    ## What it checks
    An `lr_scheduler` of PyTorch is made and bound to a name, and nobody calls its `step()` or is handed it. Read from
    the source.

    ## Why it matters
    The learning rate stays where the schedule begins: for a linear decay at its largest, for a warm-up at its smallest.

    ## Likely causes
    1. `scheduler.step()` is missing after `optimizer.step()`. Confirm: print `scheduler.get_last_lr()` late in the run.

    ## What to try first
    `scheduler.step()` once per update.

    ## When it is fine
    Where code of another file steps it.

    ## References
    PyTorch, *How to adjust learning rate*.
    """

    code: ClassVar[str] = "OPT652"
    name: ClassVar[str] = "schedule-never-moves"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Source"

    def check(self, evidence: Source) -> Iterator[Finding]:
        for binding, scope in _schedules(evidence):
            used = list(_used(evidence, binding, scope))
            if all(_looked_at(evidence, each) for each in used):
                yield self.finding(
                    f"{binding.name} never moves: the learning rate stays where it begins",
                    where=evidence.at(binding.node),
                    seen=f"{evidence.quoted(binding.node)}, and no {binding.name}.step()",
                    expected="a step of the schedule after each step of the optimizer",
                    help=f"{binding.name}.step() after the optimizer's step()",
                    confidence=0.9,
                )


def _schedules(source: Source) -> Iterator[tuple[Binding, ast.AST]]:
    for scope in [source.tree, *(node for node in ast.walk(source.tree) if isinstance(node, Function))]:
        for places in bound_in(source, scope).values():
            for each in places:
                made = library(source, each.whole) if each.whole is not None else ""
                if made.startswith("torch.optim.lr_scheduler.") and made.rpartition(".")[2][:1].isupper():
                    yield each, scope


def _used(source: Source, binding: Binding, scope: ast.AST) -> Iterator[ast.expr]:
    """Where the name is read; that of an attribute in the whole file, whatever it is an attribute of."""
    last = binding.name.rpartition(".")[2]
    around = source.tree if "." in binding.name or class_of(source, binding.node) is not None else scope
    for node in ast.walk(around):
        if isinstance(node, ast.Attribute) and "." in binding.name:
            yield from [node] if node.attr == last and isinstance(node.ctx, ast.Load) else []
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and dotted(node) == binding.name:
            yield node


def _looked_at(source: Source, use: ast.expr) -> bool:
    above = parents(source).get(use)
    return isinstance(above, ast.Attribute) and above.attr in _ONLY_LOOKS
