"""The layers of torch.nn: which of them hold weights, and which only transform."""

from __future__ import annotations

import ast

from rldebug.evidence.source import Source
from rldebug.syntax.bindings import attributes, bases, classes
from rldebug.syntax.kinds import class_kind, kind
from rldebug.syntax.names import dotted, library, method, receiver

RANDOM = frozenset(
    f"{name}{size}"
    for names, sizes in (
        ("Linear Bilinear LazyLinear LSTM GRU RNN LSTMCell GRUCell RNNCell Embedding MultiheadAttention", ("",)),
        ("Conv ConvTranspose LazyConv", ("1d", "2d", "3d")),
    )
    for name in names.split()
    for size in sizes
)
"""Layers whose weights begin as random numbers."""

SCALING = frozenset({"LayerNorm", "GroupNorm", "RMSNorm", "PReLU", "BatchNorm1d", "BatchNorm2d", "BatchNorm3d"})
"""Layers that have weights too, which begin as ones and zeros."""

_HOLDERS = frozenset({"Sequential", "ModuleList", "ModuleDict", "Transformer", "TransformerEncoder"})
_KEEPS = ("to", "cuda", "cpu", "float", "double", "eval", "train", "requires_grad_")


def layer(source: Source, node: ast.AST | None) -> str:
    """`Linear` for `nn.Linear(…)`, also for `nn.Linear(…).to(device)`; empty for what is no layer of torch."""
    while node is not None and method(node) in _KEEPS and not library(source, node):
        node = receiver(node)
    name = library(source, node) if node is not None else ""
    last = name.removeprefix("torch.nn.")
    return last if name.startswith("torch.nn.") and "." not in last and last[:1].isupper() else ""


def has_weights(source: Source, node: ast.expr) -> bool:
    """Whether a call makes something with weights of its own, as far as the text tells."""
    made = layer(source, node)
    if made == "Sequential":
        while method(node) in _KEEPS and not library(source, node):
            node = receiver(node) or node
        parts = node.args if isinstance(node, ast.Call) else []
        return any(isinstance(each, ast.Starred) or has_weights(source, each) for each in parts)
    if made:
        return made in RANDOM | SCALING
    owner = classes(source).get(dotted(node.func)) if isinstance(node, ast.Call) else None
    return owner is not None and class_kind(source, owner) == "module" and _learns(source, owner)


def _learns(source: Source, owner: ast.ClassDef) -> bool:
    """Whether a class of this file holds a layer with weights or a parameter, or inherits from what may do so."""
    family = (owner, *bases(source, owner))
    told = {each.name for each in family} | {"Module", "ABC", "object"}
    if any(dotted(base).rpartition(".")[2] not in told for each in family for base in each.bases):
        return True
    parts = [each.whole for places in attributes(source, owner).values() for each in places if each.whole is not None]
    return any(kind(source, each) == "parameter" or _weighs(source, each) for each in parts)


def _weighs(source: Source, node: ast.expr) -> bool:
    # What a function or another class gives is not looked into.
    made = layer(source, node)
    return made in RANDOM | SCALING | _HOLDERS if made else kind(source, node) == "module"
