"""A model is loaded, and what was loaded is dropped."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import reaching
from rldebug.syntax.flow import meant
from rldebug.syntax.names import library, method, receiver, resolved

_FAMILIES = ("stable_baselines3.", "sb3_contrib.")


@dataclass(frozen=True, kw_only=True)
class LoadedModelDropped(Rule):
    """A model is loaded, and what was loaded is dropped.

    ## What it checks
    `load(…)` of an agent of Stable-Baselines3, or of its VecNormalize, stands alone as a statement. It is a class
    method: it makes a new agent and gives that back; the one before the dot stays as it is. Read from the source.

    ## Why it matters
    What is used from here on is the agent as it was before, often an untrained one.

    ## Likely causes
    1. `load` is taken for something that changes the agent, as `load_state_dict` does. Confirm: print a weight before
       and after.

    ## What to try first
    `model = PPO.load(path, env=env)`; or `model.set_parameters(path)`, which changes the agent itself.

    ## When it is fine
    Where only whether the file can be read is of interest.

    ## References
    Stable-Baselines3, *Examples*: "load is a class method ... it does not update the weights of the model".
    """

    code: ClassVar[str] = "CKP453"
    name: ClassVar[str] = "loaded-model-dropped"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"

    def check(self, evidence: Source) -> Iterator[Finding]:
        for node in ast.walk(evidence.tree):
            if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and method(node.value) == "load"):
                continue
            call = node.value
            owner = receiver(call)
            made = "" if owner is None else _class(evidence, owner)
            if owner is None or not made:
                continue
            name, last = evidence.quoted(owner), made.rpartition(".")[2]
            yield self.finding(
                f"load() makes a new {last}, and what it gives back is dropped",
                where=evidence.at(call),
                seen=evidence.quoted(call),
                expected=f"{name} = {last}.load(…)",
                help=f"write {name} = {last}.load(…), or {name}.set_parameters(…)"
                if last != "VecNormalize"
                else f"write {name} = VecNormalize.load(…)",
                confidence=0.96,
            )


def _class(source: Source, owner: ast.expr) -> str:
    """The class of the library that it is, or that it was made by."""
    named = resolved(source, owner)
    if named.startswith(_FAMILIES):
        return named if named.rpartition(".")[2][:1].isupper() else ""
    made = [meant(source, each.value) for each in reaching(source, owner) if each.value is not None]
    names = {library(source, each) for each in made if isinstance(each, ast.Call)}
    if len(names) != 1 or len(made) != len(list(reaching(source, owner))):
        return ""
    (name,) = names
    name = name.removesuffix(".load")
    return name if name.startswith(_FAMILIES) and name.rpartition(".")[2][:1].isupper() else ""
