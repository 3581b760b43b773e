"""Squared errors and the like: what is compared with what."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from rldebug.evidence.source import Source
from rldebug.syntax.flow import meant
from rldebug.syntax.names import argument, constant, library, method, receiver

_FUNCTIONS = ("mse_loss", "smooth_l1_loss", "huber_loss", "l1_loss")
_MODULES = ("MSELoss", "SmoothL1Loss", "HuberLoss", "L1Loss")


@dataclass(frozen=True)
class Regression:
    """`mse_loss(left, right)`, `(left - right) ** 2`."""

    node: ast.expr
    left: ast.expr
    right: ast.expr


@lru_cache(maxsize=512)
def regressions(source: Source) -> Sequence[Regression]:
    found = []
    for node in ast.walk(source.tree):
        pair = _compared(source, node) if isinstance(node, ast.Call | ast.BinOp) else None
        if pair is not None and isinstance(node, ast.expr):
            found.append(Regression(node, *pair))
    return found


def _compared(source: Source, node: ast.Call | ast.BinOp) -> tuple[ast.expr, ast.expr] | None:
    if isinstance(node, ast.BinOp):
        return _difference(source, node.left) if isinstance(node.op, ast.Pow) and constant(node.right) == 2 else None
    name = library(source, node)
    if (name.startswith("torch.") and name.rpartition(".")[2] in _FUNCTIONS) or _is_loss_module(source, node.func):
        left, right = argument(node, 0, "input"), argument(node, 1, "target")
        return None if left is None or right is None else (left, right)
    if name in ("torch.square", "torch.abs"):
        return _difference(source, node.args[0]) if node.args else None
    inner = receiver(node)
    squares = method(node) in ("square", "abs") or (
        method(node) == "pow" and len(node.args) == 1 and constant(node.args[0]) == 2
    )
    return _difference(source, inner) if squares and not name and inner is not None else None


def _is_loss_module(source: Source, function: ast.expr) -> bool:
    """`nn.MSELoss()(a, b)`, and a name that stands for nn.MSELoss()."""
    made = meant(source, function)
    return library(source, made).rpartition(".")[2] in _MODULES and library(source, made).startswith("torch.nn.")


def _difference(source: Source, node: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    node = meant(source, node)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        return node.left, node.right
    return None
