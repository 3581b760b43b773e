"""What is minimised: the terms of every loss that backward() is called on, with their signs and weights."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from rldebug.evidence.source import Source
from rldebug.syntax.bindings import Binding, reaching
from rldebug.syntax.flow import computed_from, handed, held, looped, made_to_learn, meant, put_in, unpacked
from rldebug.syntax.kinds import kind
from rldebug.syntax.names import dotted, library, method, receiver
from rldebug.syntax.places import calls, without_graph

REDUCES = ("mean", "sum", "nanmean")
_SAME_NUMBERS = (
    *("squeeze", "unsqueeze", "view", "reshape", "flatten", "float", "double", "to", "clone", "contiguous", "cuda"),
    *("cpu", "type", "expand", "expand_as", "view_as"),
)
_SCORES = ("log_prob", "entropy")
_STACKS = ("torch.stack", "torch.cat", "torch.concat", "torch.hstack", "torch.vstack")
_MOST = 200  # terms of one loss


@dataclass(frozen=True)
class Term:
    """One term of a loss: sign * weights * leaf. Only the leaf leads to weights of a network."""

    sign: int
    leaf: ast.expr
    weights: tuple[ast.expr, ...] = ()
    reduced: bool = False  # a mean or a sum was taken of it


@lru_cache(maxsize=512)
def minimised(source: Source) -> Sequence[tuple[ast.Call, tuple[Term, ...]]]:
    """Calls of backward() and the terms of what they are called on; none where the optimizer climbs."""
    if ".backward" not in source.text or "maximize" in source.text:
        return ()
    found = []
    for call in calls(source):
        loss = receiver(call)
        if method(call) == "backward" and loss is not None:
            if dotted(loss).endswith("accelerator") or (call.args and method(loss) != "scale"):
                loss = call.args[0] if call.args else loss  # accelerator.backward(loss), manual_backward(loss)
            if method(loss) == "scale" and isinstance(loss, ast.Call) and loss.args:
                loss = loss.args[0]
            terms = expanded(source, loss)
            # What comes with both signs depends on a switch: nothing is known of it.
            signs = {(each.leaf, each.sign) for each in terms}
            found.append((call, tuple(each for each in terms if (each.leaf, -each.sign) not in signs)))
    return found


def expanded(source: Source, expression: ast.expr) -> list[Term]:
    """The terms of a sum, through names, means, weights, functions of this file and lists that were filled."""
    found: list[Term] = []
    seen: set[tuple[ast.expr, int]] = set()
    ahead = [Term(1, expression)]
    while ahead and len(seen) < _MOST:
        term = ahead.pop(0)
        if (term.leaf, term.sign) in seen:
            continue
        seen.add((term.leaf, term.sign))
        parts = list(_opened(source, term))
        if parts == [term]:
            found.append(term)
        else:
            ahead.extend(parts)
    return found


def _opened(source: Source, term: Term) -> Iterator[Term]:
    node = term.leaf
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield replace(term, leaf=node.operand, sign=-term.sign)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        yield replace(term, leaf=node.left)
        yield replace(term, leaf=node.right, sign=term.sign if isinstance(node.op, ast.Add) else -term.sign)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div):
        yield _weighted(source, term, node)
    elif isinstance(node, ast.Name | ast.Attribute):
        parts = [each for binding in reaching(source, node) for each in _bound(source, term, binding)]
        yield from parts or [term]
    elif isinstance(node, ast.Call):
        yield from _called(source, term, node)
    elif isinstance(node, ast.IfExp | ast.NamedExpr):
        yield from (replace(term, leaf=each) for each, _ in held(source, node))
    elif isinstance(node, ast.ListComp | ast.GeneratorExp):
        yield replace(term, leaf=node.elt)
    elif isinstance(node, ast.List | ast.Tuple) and node.elts:
        yield from (replace(term, leaf=each) for each in node.elts)
    else:
        yield term


def _weighted(source: Source, term: Term, node: ast.BinOp) -> Term:
    """A product of which one factor leads to weights: that one, the other a weight of it."""
    sides = [node.left, node.right]
    leads = [carries(source, each) for each in sides]
    if isinstance(node.op, ast.Div) and leads == [True, False]:
        return replace(term, leaf=node.left)
    if isinstance(node.op, ast.Mult) and leads in ([True, False], [False, True]):
        inner, weight = sides if leads[0] else reversed(sides)
        sign = term.sign
        while isinstance(opposite := meant(source, weight), ast.UnaryOp) and isinstance(opposite.op, ast.USub):
            weight, sign = opposite.operand, -sign
        return replace(term, leaf=inner, sign=sign, weights=(*term.weights, weight))
    return term


def _bound(source: Source, term: Term, binding: Binding) -> Iterator[Term]:
    if isinstance(binding.node, ast.arg):
        yield from (replace(term, leaf=each) for each in handed(source, binding.node))
    elif isinstance(binding.node, ast.AugAssign):
        if isinstance(binding.node.op, ast.Add | ast.Sub) and binding.value is not None:
            sign = term.sign if isinstance(binding.node.op, ast.Add) else -term.sign
            yield replace(term, leaf=binding.value, sign=sign)
    elif (listed := looped(source, binding)) is not None:
        yield from (replace(term, leaf=each) for each in listed)
    elif binding.how == "looped" and binding.value is not None:
        for each in unpacked(source, binding):
            yield from (replace(term, leaf=one) for one in put_in(source, each))
    elif binding.how == "assigned" and binding.value is not None and not without_graph(source, binding.node):
        parts = list(unpacked(source, binding))
        if not binding.path or binding.value not in parts:
            yield from (replace(term, leaf=each) for each in parts)


def _called(source: Source, term: Term, call: ast.Call) -> Iterator[Term]:
    name, does, inner = library(source, call), method(call), receiver(call)
    last = name.rpartition(".")[2] if name.startswith("torch.") else "" if name else does
    subject = (call.args[0] if call.args else None) if name else inner
    if (last in REDUCES or last == "neg") and subject is not None:
        sign = -term.sign if last == "neg" else term.sign
        yield replace(term, leaf=subject, sign=sign, reduced=term.reduced or last != "neg")
    elif last in _SAME_NUMBERS and subject is not None:
        yield replace(term, leaf=subject)
    elif (name in _STACKS or dotted(call.func) == "sum") and call.args:
        filled = list(put_in(source, call.args[0]))
        yield from (replace(term, leaf=each, reduced=term.reduced) for each in filled or [call.args[0]])
    elif name == "torch.mul" and len(call.args) == 2:
        yield _weighted(source, term, ast.BinOp(call.args[0], ast.Mult(), call.args[1]))
    else:
        parts = [replace(term, leaf=each) for each, _ in held(source, call) if not isinstance(each, ast.Tuple)]
        yield from parts or [term]


@lru_cache(maxsize=16384)
def carries(source: Source, expression: ast.expr) -> bool:
    """Whether gradients flow through an expression to a network or to a parameter, as far as the text tells."""
    return any(leads(source, each) for each in computed_from(source, expression, graph=True))


def leads(source: Source, node: ast.expr) -> bool:
    """Whether an expression itself is where the graph begins: a network's answer, a score, a parameter."""
    if isinstance(node, ast.Call):
        scores = method(node) in _SCORES or method(node) == "rsample"
        return (
            scores
            or kind(source, node.func) == "module"
            or (library(source, node).startswith("torch.") and made_to_learn(node))
        )
    return isinstance(node, ast.Name | ast.Attribute) and kind(source, node) == "parameter"
