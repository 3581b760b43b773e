"""Layers are kept in a plain list, and parameters() does not see them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import Binding, attributes, classes
from rldebug.syntax.kinds import class_kind
from rldebug.syntax.layers import has_weights
from rldebug.syntax.names import argument, dotted, method, receiver

_ONLY_LOOK = ("len", "enumerate", "zip", "reversed", "range", "print", "list", "iter")


@dataclass(frozen=True, kw_only=True)
class LayersInAPlainList(Rule):
    """Layers are kept in a plain list, and parameters() does not see them.

    ## What it checks
    In a class that is a network, an attribute is a plain list, tuple or dict of layers with weights (or gets them by
    `append`), nothing in the class hands it to `ModuleList`, `ModuleDict`, `Sequential`, `add_module` or `setattr`, and
    nobody outside of the class reads it. Read from the source.

    ## Why it matters
    `parameters()`, `to(device)`, `state_dict()` and `train()` pass these layers over: they are never trained, never
    saved, and stay on the CPU.

    ## Likely causes
    1. A Python list where `nn.ModuleList` was meant. Confirm: count `sum(p.numel() for p in net.parameters())`.

    ## What to try first
    `self.heads = nn.ModuleList([...])`.

    ## When it is fine
    Where the layers are held by another attribute as well, or shall be hidden from the optimizer: a frozen target
    network. The rule is quiet about a list of one, which is how people hide a network on purpose.

    ## References
    PyTorch, *torch.nn.ModuleList*.
    """

    code: ClassVar[str] = "NET640"
    name: ClassVar[str] = "layers-in-a-plain-list"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("NET305", "OPT001")

    def check(self, evidence: Source) -> Iterator[Finding]:
        for owner in classes(evidence).values():
            if class_kind(evidence, owner) != "module":
                continue
            for name, places in attributes(evidence, owner).items():
                hidden = [each for each in places if _holds_layers(evidence, owner, name, each)]
                if not hidden or len(hidden) != len(places):
                    continue
                if not _registered(owner, name) and not _read_elsewhere(evidence, owner, name):
                    kind_ = "dict" if isinstance(hidden[0].value, ast.Dict | ast.DictComp) else "list"
                    yield self.finding(
                        f"layers in {name} are hidden in a plain {kind_}: parameters() does not see them",
                        where=evidence.at(hidden[0].node),
                        seen=evidence.quoted(hidden[0].node),
                        expected="nn.ModuleList or nn.ModuleDict",
                        help=f"{name} = nn.Module{kind_.capitalize()}(…)",
                        confidence=0.9,
                    )


def _holds_layers(source: Source, owner: ast.ClassDef, name: str, binding: Binding) -> bool:
    value = binding.whole
    if isinstance(value, ast.List | ast.Tuple):
        parts = [each for each in value.elts if not isinstance(each, ast.Starred)]
        if not parts and isinstance(value, ast.List):
            return any(has_weights(source, each) for each in _appended(owner, name))
        if len(parts) == 1:
            return False  # how people hide a network on purpose
    elif isinstance(value, ast.ListComp):
        parts = [value.elt]
    elif isinstance(value, ast.Dict):
        parts = value.values
    elif isinstance(value, ast.DictComp):
        parts = [value.value]
    else:
        return False
    # Made here: a network that comes from elsewhere may be held there.
    return bool(parts) and all(has_weights(source, each) for each in parts)


def _appended(owner: ast.ClassDef, name: str) -> Iterator[ast.expr]:
    for node in ast.walk(owner):
        if isinstance(node, ast.Call) and method(node) == "append" and dotted(receiver(node) or node) == name:
            value = argument(node, 0, "object")
            if isinstance(value, ast.Call):
                yield value


def _registered(owner: ast.ClassDef, name: str) -> bool:
    """Whether the attribute goes whole into another call, or its parts are registered one by one."""
    for node in ast.walk(owner):
        if isinstance(node, ast.Call):
            if method(node) in ("add_module", "register_module", "parameters") or dotted(node.func) == "setattr":
                return True
            given = [each.value if isinstance(each, ast.Starred) else each for each in node.args]
            given += [each.value for each in node.keywords]
            if any(dotted(each) == name for each in given) and dotted(node.func) not in _ONLY_LOOK:
                return True
    return False


def _read_elsewhere(source: Source, owner: ast.ClassDef, name: str) -> bool:
    """Whether other code reads the attribute, and may hand the layers to an optimizer itself."""
    inside = set(ast.walk(owner))
    last = name.rpartition(".")[2]
    return any(
        isinstance(node, ast.Attribute) and node.attr == last and node not in inside for node in ast.walk(source.tree)
    )
