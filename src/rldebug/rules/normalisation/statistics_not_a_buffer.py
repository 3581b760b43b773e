"""Running statistics of a network are a plain attribute, not a buffer."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import Binding, attributes, classes
from rldebug.syntax.flow import computed_from
from rldebug.syntax.kinds import class_kind
from rldebug.syntax.names import dotted, library, method
from rldebug.syntax.places import Function, function_of

_MEASURES = ("mean", "var", "std", "var_mean", "std_mean")
_SAVES = ("state_dict", "get_extra_state", "save", "__getstate__")


@dataclass(frozen=True, kw_only=True)
class StatisticsNotABuffer(Rule):
    """Running statistics of a network are a plain attribute, not a buffer.

    ## What it checks
    In a class that is a network, a tensor is bound to `self` in `__init__`, another method computes it anew from the
    mean or variance of what it is given, and it is neither a parameter nor a buffer. Read from the source.

    ## Why it matters
    `state_dict()` does not hold it: a loaded policy normalises with the numbers it was made with, and acts as if blind.
    `to(device)` leaves it on the CPU.

    ## Likely causes
    1. `register_buffer()` was not used. Confirm: look for it in `net.state_dict()`.

    ## What to try first
    `self.register_buffer("mean", torch.zeros(n))` in `__init__`.

    ## When it is fine
    Where the statistics are saved by other means.

    ## References
    PyTorch, *torch.nn.Module.register_buffer*.
    """

    code: ClassVar[str] = "NRM643"
    name: ClassVar[str] = "statistics-not-a-buffer"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("NRM360",)

    def check(self, evidence: Source) -> Iterator[Finding]:
        for owner in classes(evidence).values():
            methods = {each.name for each in owner.body if isinstance(each, Function)}
            if class_kind(evidence, owner) != "module" or methods & {*_SAVES}:
                continue
            for name, places in attributes(evidence, owner).items():
                begun = [each for each in places if _begins_as_tensor(evidence, each)]
                moved = [each for each in places if each not in begun and _follows_data(evidence, each)]
                if not begun or not moved or not _read(owner, name):
                    continue
                last = name.rpartition(".")[2]
                value = evidence.quoted(begun[0].value) if begun[0].value is not None else "…"
                yield self.finding(
                    f"{name} follows the data and is no buffer: state_dict() does not hold it",
                    where=evidence.at(begun[0].node),
                    seen=f"{evidence.quoted(begun[0].node)}, and {evidence.quoted(moved[0].node)}",
                    expected="statistics that are saved with the network",
                    help=f'self.register_buffer("{last}", {value})',
                    confidence=0.85,
                )


def _begins_as_tensor(source: Source, binding: Binding) -> bool:
    function = function_of(source, binding.node)
    made = library(source, binding.whole) if binding.whole is not None else ""
    inside = function is not None and function.name == "__init__"
    return inside and made in ("torch.zeros", "torch.ones", "torch.full", "torch.tensor", "torch.empty")


def _follows_data(source: Source, binding: Binding) -> bool:
    function = function_of(source, binding.node)
    if binding.value is None or function is None or function.name == "__init__":
        return False
    return any(
        isinstance(each, ast.Call)
        and (method(each) in _MEASURES or library(source, each).rpartition(".")[2] in _MEASURES)
        for each in computed_from(source, binding.value)
    )


def _read(owner: ast.ClassDef, name: str) -> bool:
    """Whether another method reads it: a number that is only shown needs no saving."""
    readers = [each for each in owner.body if isinstance(each, Function)]
    return any(
        isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and dotted(node) == name
        for function in readers
        for node in ast.walk(function)
    )
