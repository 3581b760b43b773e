"""A network is made anew after the optimizer got the old one's parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import classes
from rldebug.syntax.kinds import class_kind
from rldebug.syntax.layers import RANDOM, SCALING, layer
from rldebug.syntax.names import dotted, library
from rldebug.syntax.places import before, function_of, scope_of, statement_of
from rldebug.syntax.training import Optimizer, blocks, modules_in, optimizers, steps_of

_HOLDERS = ("Sequential", "ModuleList", "ModuleDict")


@dataclass(frozen=True, kw_only=True)
class NetworkReplacedAfterOptimizer(Rule):
    """A network is made anew after the optimizer got the old one's parameters.

    ## What it checks
    In one block of statements: an optimizer is made with `net.parameters()`, and then `net`, or a layer of it, is bound
    to a new network; the optimizer is not made again, and steps later on. Read from the source.

    ## Why it matters
    The optimizer goes on holding the parameters of the network that is gone. The new one gets gradients and never
    moves.

    ## Likely causes
    1. The lines are in the wrong order. Confirm: compare `id(p)` of `net.parameters()` with those of
       `optimizer.param_groups`.
    2. A head is exchanged for another task. Confirm: read the line.

    ## What to try first
    Make the optimizer last.

    ## When it is fine
    Where the new network shall not be trained.

    ## References
    PyTorch, *torch.optim*: constructing it.
    """

    code: ClassVar[str] = "OPT646"
    name: ClassVar[str] = "network-replaced-after-optimizer"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("OPT001", "OPT307", "OPT306")

    def check(self, evidence: Source) -> Iterator[Finding]:
        for optimizer in optimizers(evidence):
            names = modules_in(evidence, optimizer.parameters) or []
            made = statement_of(evidence, optimizer.made)
            block = next((each for each in blocks(evidence) if made in each), [])
            later = block[block.index(made) + 1 :] if made in block else []
            if any(optimizer.name in _targets(each) for each in later):
                continue  # made again
            for statement in later:
                new = next((each for each in names if _renews(evidence, statement, each)), "")
                if new and _steps_later(evidence, optimizer, statement):
                    yield self.finding(
                        f"{optimizer.name} holds the parameters of a {new} that is replaced",
                        where=evidence.at(statement),
                        seen=f"{evidence.quoted(statement)}, after {optimizer.name} was made on line {made.lineno}",
                        expected="the optimizer made for the network that is trained",
                        help=f"make {optimizer.name} after this line",
                        confidence=0.93,
                    )
                    break


def _targets(statement: ast.stmt) -> list[str]:
    return [dotted(each) for each in statement.targets] if isinstance(statement, ast.Assign) else []


def _renews(source: Source, statement: ast.stmt, network: str) -> bool:
    """Whether the network, or a part of it, is bound to something that was just made, and not around the old one."""
    if not isinstance(statement, ast.Assign) or not any(
        each == network or each.startswith(f"{network}.") for each in _targets(statement)
    ):
        return False
    value = statement.value
    copied = library(source, value) in ("copy.deepcopy", "copy.copy")
    keeps = any(dotted(each) == network for each in ast.walk(value))
    owner = classes(source).get(dotted(value.func)) if isinstance(value, ast.Call) else None
    own = owner is not None and class_kind(source, owner) == "module"
    whole = own or layer(source, value) in RANDOM | SCALING | {*_HOLDERS}
    return copied or (whole and not keeps)


def _steps_later(source: Source, optimizer: Optimizer, statement: ast.stmt) -> bool:
    """Where it is used after the statement: further down, or in another function."""
    here = scope_of(source, statement)
    return any(
        before(statement, each) if function_of(source, each) is here or here is source.tree else True
        for each in steps_of(source, optimizer)
    )
