"""Likelihood ratios and their clipping, as policy losses write them."""

from __future__ import annotations

import ast

from rldebug.evidence.source import Source
from rldebug.syntax.flow import computed_from, meant, put_in
from rldebug.syntax.kinds import kind
from rldebug.syntax.losses import carries
from rldebug.syntax.names import argument, library, method, receiver
from rldebug.syntax.numbers import evaluated, number
from rldebug.syntax.stepping import roles
from rldebug.syntax.sums import terms

_CLAMPS = ("clamp", "clip")


def clamped(source: Source, call: ast.expr) -> tuple[ast.expr, ast.expr | None, ast.expr | None] | None:
    """What a clamp() is given: the tensor, the lower and the upper bound."""
    if not isinstance(call, ast.Call):
        return None
    name, inner = library(source, call), receiver(call)
    if name in ("torch.clamp", "torch.clip"):
        subject = argument(call, 0, "input")
        return None if subject is None else (subject, argument(call, 1, "min"), argument(call, 2, "max"))
    if not name and method(call) in _CLAMPS and inner is not None:
        return inner, argument(call, 0, "min"), argument(call, 1, "max")
    return None


def bound_around_one(source: Source, bound: ast.expr | None, usual: float) -> float | None:
    """What a bound such as `1 - eps` comes to, where the text names no number: with the usual one in its place."""
    told = number(source, bound)
    if told is None and bound is not None and "1" in source.quoted(bound):  # `low` alone may be anything
        told = evaluated(bound, lambda _: usual)
    return told


def exponent(source: Source, expression: ast.expr) -> ast.expr | None:
    """What is in the exp() that a name or an expression stands for."""
    node = meant(source, expression)
    if library(source, node) == "torch.exp" and isinstance(node, ast.Call) and node.args:
        return node.args[0]
    return receiver(node) if method(node) == "exp" and not library(source, node) else None


def new_and_old(source: Source, expression: ast.expr) -> tuple[int, ast.expr, ast.expr] | None:
    """Of a difference of two log-probs, one of which can be learned: its sign, itself, and the other one."""
    parts = list(terms(meant(source, expression)))
    live = [(sign, node) for sign, node in parts if carries(source, node)]
    kept = [(sign, node) for sign, node in parts if not carries(source, node)]
    if len(live) != 1 or len(kept) != 1 or live[0][0] == kept[0][0]:
        return None
    return live[0][0], live[0][1], kept[0][1]


def is_ratio(source: Source, expression: ast.expr) -> bool:
    """Whether it is exp(new - old) or exp(old - new), also clipped."""
    node = meant(source, expression)
    given = clamped(source, node)
    inner = exponent(source, given[0] if given else node)
    return inner is not None and new_and_old(source, inner) is not None


def varies(source: Source, weight: ast.expr) -> bool:
    """Whether a weight differs from step to step: data, not a coefficient."""
    if number(source, weight) is not None:
        return False
    for each in computed_from(source, weight):
        if isinstance(each, ast.Name | ast.Attribute) and (
            "reward" in roles(source, each) or any(put_in(source, each))
        ):
            return True
        if isinstance(each, ast.Call) and library(source, each) in ("torch.tensor", "torch.as_tensor", "torch.stack"):
            return True
    return kind(source, weight) == "tensor" and not carries(source, weight)
