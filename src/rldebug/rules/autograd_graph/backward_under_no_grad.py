"""A loss is computed under no_grad(), and backward() is called on it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import reaching
from rldebug.syntax.names import constant, receiver, resolved
from rldebug.syntax.places import Function, above, without_graph
from rldebug.syntax.training import backward_calls


@dataclass(frozen=True, kw_only=True)
class BackwardUnderNoGrad(Rule):
    """A loss is computed under no_grad(), and backward() is called on it.

    ## What it checks
    `backward()`, and the line that computes its loss, both stand under `torch.no_grad()` or `torch.inference_mode()`:
    in a `with` block, or in a function that is decorated so. Read from the source.

    ## Why it matters
    Under no_grad() no graph is recorded: PyTorch refuses, "element 0 of tensors does not require grad".

    ## Likely causes
    1. The `with` block, or the decorator, covers more than it should. Confirm: read the lines above.

    ## What to try first
    Only the targets and the acting under `no_grad()`; the loss outside of it.

    ## When it is fine
    Under `torch.enable_grad()` inside of it; then the rule is quiet.

    ## References
    PyTorch, *Locally disabling gradient computation*.
    """

    code: ClassVar[str] = "GRA643"
    name: ClassVar[str] = "backward-under-no-grad"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("GRA403", "GRA406")

    def check(self, evidence: Source) -> Iterator[Finding]:
        if "requires_grad_(" in evidence.text:
            return  # somebody begins a graph by hand
        for call in backward_calls(evidence):
            loss = call.args[0] if call.args else receiver(call)
            if loss is None or not without_graph(evidence, call) or _switched_on(evidence, call):
                continue
            made = reaching(evidence, loss) if isinstance(loss, ast.Name) else ()
            if any(isinstance(each.node, ast.arg) or _with_graph(evidence, each.node) for each in made):
                continue
            if isinstance(loss, ast.Name) and not made:
                continue
            yield self.finding(
                f"{evidence.quoted(loss)} is computed under no_grad(), and backward() is called on it",
                where=evidence.at(call),
                seen=evidence.quoted(call),
                expected="a loss that is computed with its graph",
                help="end the no_grad() before the loss is computed",
                confidence=0.95,
            )


def _with_graph(source: Source, node: ast.AST) -> bool:
    return not without_graph(source, node) or _switched_on(source, node)


def _switched_on(source: Source, node: ast.AST) -> bool:
    """enable_grad() around it, or a function that PyTorch calls by itself."""
    for each in above(source, node):
        given: list[ast.expr] = []
        if isinstance(each, ast.With | ast.AsyncWith):
            given = [item.context_expr for item in each.items]
        elif isinstance(each, Function):
            given = each.decorator_list
        if any(_enables(source, one) for one in given):
            return True
    return False


def _enables(source: Source, node: ast.expr) -> bool:
    name = resolved(source, node.func if isinstance(node, ast.Call) else node)
    first = node.args[0] if isinstance(node, ast.Call) and node.args else None
    return name == "torch.enable_grad" or (name == "torch.set_grad_enabled" and constant(first) is not False)
