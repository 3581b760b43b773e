"""The method `parameters` is handed over, not what it returns."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import first_parameter, functions, reaching
from rldebug.syntax.kinds import class_kind, kind
from rldebug.syntax.names import argument, dotted, library
from rldebug.syntax.places import calls, class_of, function_of, parents

_TAKES = ("torch.optim.", "torch.nn.utils.clip_grad_", "torch.nn.utils.parameters_to_vector")


@dataclass(frozen=True, kw_only=True)
class ParametersNotCalled(Rule):
    """The method `parameters` is handed over, not what it returns.

    ## What it checks
    `optim.Adam(net.parameters)`, `clip_grad_norm_(net.parameters, 0.5)`: the parentheses are missing, and `net` is a
    network. Read from the source.

    ## Why it matters
    PyTorch refuses it when the line is reached: "'method' object is not iterable".

    ## Likely causes
    1. The parentheses were forgotten. Confirm: read the line.

    ## What to try first
    `net.parameters()`; `rldebug lint --fix` writes it.

    ## When it is fine
    Nothing that is known of.

    ## References
    PyTorch, *torch.optim*: constructing it.
    """

    code: ClassVar[str] = "OPT647"
    name: ClassVar[str] = "parameters-not-called"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("OPT402", "OPT403")

    def check(self, evidence: Source) -> Iterator[Finding]:
        if "parameters" in functions(evidence):
            return  # may be a property
        for call in calls(evidence):
            if not library(evidence, call).startswith(_TAKES):
                continue
            given = argument(call, 0, "params", "parameters")
            for node in ast.walk(given) if given is not None else ():
                if isinstance(node, ast.Attribute) and node.attr == "parameters" and _uncalled(evidence, node):
                    line = evidence.quoted(node)
                    yield self.finding(
                        f"{line} is not called: a method is handed over, not the parameters",
                        where=evidence.at(node),
                        seen=evidence.quoted(call),
                        expected=f"{line}()",
                        help=f"{line}()",
                        confidence=0.97,
                        edits=(evidence.inserted_after(node, "()"),),
                    )


def _uncalled(source: Source, node: ast.Attribute) -> bool:
    above = parents(source).get(node)
    if (
        (isinstance(above, ast.Call) and above.func is node)
        or isinstance(above, ast.Attribute)
        or reaching(source, node)
    ):
        return False
    owner, function = class_of(source, node), function_of(source, node)
    if owner is not None and function is not None and dotted(node.value) == first_parameter(function):
        return class_kind(source, owner) == "module"
    return kind(source, node.value) == "module"
