"""The weights that are kept are those with the lowest score."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import called, reaching
from rldebug.syntax.flow import handed, put_in, returned, same
from rldebug.syntax.names import constant, dotted, library, method, receiver, resolved
from rldebug.syntax.stepping import roles

_SAVES = ("torch.save", "pickle.dump", "copy.deepcopy", "joblib.dump", "numpy.savez", "numpy.save")
_KEEPS = ("save", "state_dict", "save_pretrained")  # methods of networks and agents of libraries
_AVERAGES = (
    "float", "sum", "round", "list", "tuple", "numpy.mean", "numpy.average", "numpy.median", "numpy.nanmean",
    "numpy.sum", "numpy.array", "numpy.asarray", "numpy.float64", "numpy.float32", "statistics.mean",
    "statistics.fmean", "statistics.median", "torch.tensor", "torch.as_tensor", "torch.stack", "numpy.stack",
)  # fmt: skip
_EMPTY = (
    "list",
    "deque",
    "collections.deque",
    "numpy.zeros",
    "numpy.empty",
    "torch.zeros",
)  # until something is put in
_THEMSELVES = ("mean", "sum", "item", "median", "astype", "tolist", "float", "double", "copy", "numpy", "cpu")
_INFINITE = ("numpy.inf", "math.inf", "torch.inf")


@dataclass(frozen=True, kw_only=True)
class LowestScoreSaved(Rule):
    """The weights that are kept are those with the lowest score.

    ## What it checks
    `if score < best: best = score; save(…)`, where the score is made of nothing but rewards of an environment: summed
    up, averaged, as `step()` gives them or as a library tells the return of an episode, and nowhere subtracted. Read
    from the source.

    ## Why it matters
    What is kept as the best is the worst that was seen, and everything that was learned since is thrown away.

    ## Likely causes
    1. The comparison was taken from a program that minimises a loss. Confirm: print both where it saves.

    ## What to try first
    `if score > best`, with `best = -inf` at first.

    ## When it is fine
    Rewards are costs, of which little is wanted.

    ## References
    Stable-Baselines3, *EvalCallback*: `if mean_reward > self.best_mean_reward`.
    """

    code: ClassVar[str] = "CKP452"
    name: ClassVar[str] = "lowest-score-saved"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("CKP455",)

    def check(self, evidence: Source) -> Iterator[Finding]:
        for node in ast.walk(evidence.tree):
            if not isinstance(node, ast.If):
                continue
            for test in node.test.values if isinstance(node.test, ast.BoolOp) else (node.test,):
                pair = _lower(test)
                if pair is None or not _remembered(node, *pair) or not _saves(evidence, node):
                    continue
                if _sum_of(evidence, pair[0]) != "reward":
                    continue
                score, best = (evidence.quoted(each) for each in pair)
                yield self.finding(
                    f"weights are kept where {score} is lower than before, and {score} is a return",
                    where=evidence.at(test),
                    seen=evidence.quoted(test),
                    expected=f"{score} > {best}",
                    help=f"keep them where {score} > {best}, and begin with -inf",
                    confidence=0.9,
                )


def _lower(test: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """What is compared, and the lowest so far."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not dotted(test.left):
        return None
    other = test.comparators[0]
    if isinstance(test.ops[0], ast.Lt | ast.LtE):
        return test.left, other
    return (other, test.left) if isinstance(test.ops[0], ast.Gt | ast.GtE) else None


def _remembered(node: ast.If, score: ast.expr, best: ast.expr) -> bool:
    return bool(dotted(best)) and any(
        isinstance(each, ast.Assign)
        and any(dotted(target) == dotted(best) for target in each.targets)
        and same(each.value, score)
        for each in node.body
    )


def _saves(source: Source, node: ast.AST, depth: int = 2) -> bool:
    for each in ast.walk(node):
        if not isinstance(each, ast.Call):
            continue
        if library(source, each) in _SAVES or (not library(source, each) and method(each) in _KEEPS):
            return True
        function = called(source, each)
        if function is not None and depth > 0 and _saves(source, function, depth - 1):
            return True
    return False


def _sum_of(source: Source, node: ast.expr, pick: int | None = None, depth: int = 16) -> str:
    """What a number is made of by adding up and averaging alone: "reward" if of rewards, "plain" if of constants, and
    "other". Of several numbers at once, the one at this place."""
    if depth <= 0:
        return "other"
    if _pays(source, node):
        return "reward"
    again = partial(_sum_of, source, depth=depth - 1)
    match node:
        case ast.Constant():
            return "plain"
        case ast.Name() | ast.Attribute():
            return _of_name(source, node, pick, depth)
        case ast.Tuple() | ast.List() if pick is not None and 0 <= pick < len(node.elts):
            return again(node.elts[pick])
        case ast.Tuple() | ast.List():
            return _together(["plain", *(again(each) for each in node.elts)])
        case ast.ListComp() | ast.GeneratorExp():
            return again(node.elt)
        case ast.Subscript():
            return again(node.value, pick=pick)
        case ast.IfExp():
            return _together([again(node.body, pick=pick), again(node.orelse, pick=pick)])
        case ast.BinOp(op=ast.Add()):
            return _together([again(node.left), again(node.right)])
        case ast.BinOp(op=ast.Div()):
            return again(node.left)
        case ast.UnaryOp(op=ast.USub()):
            return "plain" if again(node.operand) == "plain" else "other"
        case ast.Call():
            return _of_call(source, node, pick, depth)
    return "other"


def _of_name(source: Source, node: ast.expr, pick: int | None, depth: int) -> str:
    found = ["plain"] if resolved(source, node) in _INFINITE else []
    for binding in reaching(source, node):
        if isinstance(binding.node, ast.arg):
            found += [_sum_of(source, each, pick, depth - 1) for each in handed(source, binding.node)]
            continue
        op = binding.node.op if isinstance(binding.node, ast.AugAssign) else None
        told = binding.value is not None and binding.how in ("assigned", "augmented", "looped")
        if not told or binding.value is None or len(binding.path) > 1 or not isinstance(op, ast.Add | ast.Div | None):
            return "other"
        within = binding.path[0] if binding.path else pick
        found.append("plain" if isinstance(op, ast.Div) else _sum_of(source, binding.value, within, depth - 1))
    found += [_sum_of(source, each, pick, depth - 1) for each in put_in(source, node)]
    return _together(found)


def _of_call(source: Source, call: ast.Call, pick: int | None, depth: int) -> str:
    function = called(source, call)
    if function is not None:
        return _together([_sum_of(source, each, pick, depth - 1) for each in returned(function)])
    name = library(source, call) or dotted(call.func)
    if (name in _EMPTY and (name not in _AVERAGES or not call.args)) or (
        name == "float" and call.args and isinstance(constant(call.args[0]), str)
    ):
        return "plain"
    given = call.args[0] if call.args else None
    if name in _AVERAGES and given is not None:
        return _sum_of(source, given, pick, depth - 1)
    on = receiver(call)
    if not library(source, call) and method(call) in _THEMSELVES and on is not None:
        return _sum_of(source, on, pick, depth - 1)
    return "other"


def _together(kinds: list[str]) -> str:
    if not kinds or "other" in kinds:
        return "other"
    return "reward" if "reward" in kinds else "plain"


def _pays(source: Source, node: ast.expr) -> bool:
    """A reward of step(), or the return of an episode as Gymnasium and Monitor tell it: info["episode"]["r"]."""
    if isinstance(node, ast.Subscript) and constant(node.slice) == "r":
        return isinstance(node.value, ast.Subscript) and constant(node.value.slice) == "episode"
    return isinstance(node, ast.Name | ast.Attribute) and roles(source, node) == {"reward"}
