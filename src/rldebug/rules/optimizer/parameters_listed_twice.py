"""An optimizer is given the parameters of a network twice."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import classes, given_for, parameters
from rldebug.syntax.flow import meant
from rldebug.syntax.kinds import class_kind, kind
from rldebug.syntax.names import dotted, library
from rldebug.syntax.training import networks_in, optimizers


@dataclass(frozen=True, kw_only=True)
class ParametersListedTwice(Rule):
    """An optimizer is given the parameters of a network twice.

    ## What it checks
    `list(net.parameters()) + list(net.parameters())`: the same network twice in what one optimizer is given, a network
    and a part of it (`net` and `net.trunk`), or two networks that were both made around a third one
    (`Actor(trunk)` and `Critic(trunk)`). Read from the source.

    ## Why it matters
    PyTorch refuses it in several groups, and warns in one: a step is then taken twice with the same gradient, and
    clipping counts it twice.

    ## Likely causes
    1. The wrong name in the second place: another network is then not trained at all. Confirm: read the line.
    2. A shared trunk is listed with each of its heads. Confirm: compare `len(params)` with `len(set(params))`.

    ## What to try first
    Each network once; of shared ones, the whole.

    ## When it is fine
    Nothing that is known of.

    ## References
    OPT-08 of bench/bugs.
    """

    code: ClassVar[str] = "OPT644"
    name: ClassVar[str] = "parameters-listed-twice"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("OPT002",)

    def check(self, evidence: Source) -> Iterator[Finding]:
        for optimizer in optimizers(evidence):
            networks = networks_in(evidence, optimizer.parameters) or []
            pairs = [(one, other) for place, one in enumerate(networks) for other in networks[:place]]
            twice = next((name for one, other in pairs if (name := _common(evidence, one, other))), "")
            if twice:
                yield self.finding(
                    f"{optimizer.name} is given the parameters of {twice} twice",
                    where=evidence.at(optimizer.made),
                    seen=f"the parameters of {' and of '.join(map(dotted, networks))}",
                    expected="each parameter once",
                    help=f"list {twice} once; was another network meant?",
                    confidence=0.93,
                )


def _common(source: Source, one: ast.expr, other: ast.expr) -> str:
    """What two networks both hold; empty where nothing is known of."""
    names = [dotted(one), dotted(other)]
    for name, rest in (names, names[::-1]):
        if f"{name}.".startswith(f"{rest}."):
            return name
    both = _built_around(source, one) & _built_around(source, other)
    return min(both, default="")


def _built_around(source: Source, network: ast.expr) -> set[str]:
    """The networks that were handed over when this one was made, and that it keeps."""
    made = meant(source, network)
    if not isinstance(made, ast.Call):
        return set()
    handed = {dotted(each): each for each in made.args if dotted(each) and kind(source, each) == "module"}
    if library(source, made) == "torch.nn.Sequential":
        return set(handed)
    owner = classes(source).get(dotted(made.func))
    start = next((each for each in (owner.body if owner else ()) if _begins(each)), None)
    if owner is None or not isinstance(start, ast.FunctionDef) or class_kind(source, owner) != "module":
        return set()
    kept = {dotted(each.value) for each in ast.walk(start) if isinstance(each, ast.Assign)}
    names = [each.arg for each in parameters(start)[1:]]
    return {name for name in handed if any(given_for(start, each, made) is handed[name] for each in kept & {*names})}


def _begins(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name == "__init__"
