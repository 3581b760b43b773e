"""A callback returns nothing after a step, and so ends the training."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import bases, functions
from rldebug.syntax.kinds import kind
from rldebug.syntax.names import argument, method, receiver, resolved
from rldebug.syntax.places import Function, calls, own_nodes

_AFTER_A_STEP = "_on_step"


@dataclass(frozen=True, kw_only=True)
class CallbackEndsTraining(Rule):
    """A callback returns nothing after a step, and so ends the training.

    ## What it checks
    `_on_step` of a callback of Stable-Baselines3, or a function given as `callback=` to `learn`, that comes to its end
    without `return True`. Read from the source.

    ## Why it matters
    What it returns says whether to go on, and None counts as no. `learn` comes back after the first step, without an
    error: a model that has learned nothing is saved and evaluated.

    ## Likely causes
    1. The `return True` was forgotten. Confirm: print `model.num_timesteps` after `learn`.
    2. It stands inside of an `if` or a loop, and most steps do not come by. Confirm: look how far it is indented.

    ## What to try first
    `return True` as the last line.

    ## When it is fine
    Never: where the training should end, `return False` says so.

    ## References
    Stable-Baselines3, *Callbacks*.
    """

    code: ClassVar[str] = "OPT655"
    name: ClassVar[str] = "callback-ends-training"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("OPT350",)

    def check(self, evidence: Source) -> Iterator[Finding]:
        for function in dict.fromkeys([*_methods(evidence), *_given(evidence)]):
            returns = [each for each in own_nodes(function) if isinstance(each, ast.Return)]
            bare = [each for each in returns if _nothing(each.value)]
            if any(isinstance(each, ast.Yield | ast.YieldFrom) for each in own_nodes(function)):
                continue
            if not bare and not _comes_to_its_end(function.body):
                continue
            last = bare[0] if bare else function
            yield self.finding(
                f"{function.name} returns nothing, which ends the training",
                where=evidence.at(last),
                seen="`return` without a value" if bare else
                "no return" if not returns else "a return on some ways through it, and an end without one",
                expected="True after every step that the training should go on from",
                help="return True as the last line",
                confidence=0.95,
            )  # fmt: skip


def _methods(source: Source) -> Iterator[Function]:
    for owner in ast.walk(source.tree):
        if isinstance(owner, ast.ClassDef) and _is_callback(source, owner):
            for each in owner.body:
                if isinstance(each, ast.FunctionDef) and each.name == _AFTER_A_STEP and not each.decorator_list:
                    yield each


def _is_callback(source: Source, owner: ast.ClassDef) -> bool:
    families = [owner, *bases(source, owner)]
    names = [resolved(source, base) for each in families for base in each.bases]
    return any(name.startswith("stable_baselines3.") and name.endswith("Callback") for name in names)


def _given(source: Source) -> Iterator[Function]:
    for call in calls(source):
        if method(call) != "learn" or kind(source, receiver(call)) != "agent":
            continue
        given = argument(call, 1, "callback")
        if isinstance(given, ast.Name):
            found = functions(source).get(given.id, [])
            if len(found) == 1:
                yield found[0]


def _nothing(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and value.value is None)


def _comes_to_its_end(body: Sequence[ast.stmt]) -> bool:
    """Whether a way leads past the last line; where that is hard to say, none does."""
    last = body[-1]
    if isinstance(last, ast.Return | ast.Raise):
        return False
    if isinstance(last, ast.If):
        return not last.orelse or _comes_to_its_end(last.body) or _comes_to_its_end(last.orelse)
    if isinstance(last, ast.With):
        return _comes_to_its_end(last.body)
    return not isinstance(last, ast.While | ast.Try | ast.Match | ast.Assert)
