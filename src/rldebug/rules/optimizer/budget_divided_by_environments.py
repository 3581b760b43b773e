"""The steps that learn() is given are divided by the number of environments."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.names import argument, dotted, imports, library, method, resolved
from rldebug.syntax.places import calls

_LIBRARIES = ("stable_baselines3", "sb3_contrib")
_VECTORS = ("DummyVecEnv", "SubprocVecEnv")


@dataclass(frozen=True, kw_only=True)
class BudgetDividedByEnvironments(Rule):
    """The steps that learn() is given are divided by the environments.

    ## What it checks
    `learn(total_timesteps=…)` of Stable-Baselines3 is given a number that is divided by the number of environments, as
    `make_vec_env`, a list of environments or `num_envs` has it. Read from the source.

    ## Why it matters
    The library counts the steps of all environments together. With eight of them an eighth of the training takes place,
    and a schedule that runs down with the progress runs down as early.

    ## Likely causes
    1. Intervals of callbacks are counted in calls, and are divided; the budget is not. Confirm: compare `num_timesteps`
       at the end with what was wanted.

    ## What to try first
    `model.learn(total_timesteps=steps)`.

    ## When it is fine
    The number was multiplied by the environments before.

    ## References
    Stable-Baselines3, *Vectorized environments*.
    """

    code: ClassVar[str] = "OPT656"
    name: ClassVar[str] = "budget-divided-by-environments"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Source"

    def check(self, evidence: Source) -> Iterator[Finding]:
        if not any(each.startswith(_LIBRARIES) for each in imports(evidence).values()):
            return
        counts = _counts(evidence)
        for call in calls(evidence):
            budget = argument(call, 0, "total_timesteps") if method(call) == "learn" else None
            part = next((each for each in ast.walk(budget) if _divides(each, counts)), None) if budget else None
            if budget is not None and isinstance(part, ast.BinOp):
                yield self.finding(
                    "the steps to learn from are divided by the number of environments",
                    where=evidence.at(call),
                    seen=evidence.quoted(budget),
                    expected="the steps of all environments together: that is what learn() counts",
                    help=f"total_timesteps={evidence.quoted(part.left)}",
                    confidence=0.8,
                )


def _divides(node: ast.AST, counts: set[str]) -> bool:
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Div | ast.FloorDiv):
        return False
    name = dotted(node.right)
    multiplied = any(isinstance(each, ast.Mult) for each in ast.walk(node.left))
    return bool(name) and not multiplied and (name in counts or name.endswith((".num_envs", ".n_envs")))


def _counts(source: Source) -> set[str]:
    """Names of the number of environments, by what is made with it."""
    found: set[str] = set()
    for call in calls(source):
        full = library(source, call)
        if full.endswith(".make_vec_env"):
            given = argument(call, 1, "n_envs")
            found.add("" if given is None else dotted(given))
        elif resolved(source, call.func).endswith(_VECTORS):
            found |= {
                dotted(each.args[-1])
                for each in ast.walk(call)
                if isinstance(each, ast.Call) and dotted(each.func) == "range" and each.args
            }
    return found - {""}
