"""A VecNormalize that was loaded to play with goes on updating its statistics."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.names import argument, dotted, library, method
from rldebug.syntax.places import Scope, before, calls, scope_of

_LOADS = ".VecNormalize.load"
_SWITCHES = ("training", "set_attr", "set_training_mode")


@dataclass(frozen=True, kw_only=True)
class LoadedStatisticsKeepMoving(Rule):
    """A VecNormalize loaded to play with goes on updating its statistics.

    ## What it checks
    `VecNormalize.load(…)` of Stable-Baselines3 gives an environment that is handed to `evaluate_policy()`, or stepped
    by hand. Nothing sets its `training`, which is as it was when it was saved, and nothing is learned after it in the
    same function. Read from the source.

    ## Why it matters
    Mean and variance move with every observation that is only played: each episode is judged by other statistics than
    the one before, and than those that the policy was trained with.

    ## Likely causes
    1. `training = False` was forgotten after loading. Confirm: print `venv.obs_rms.count` before and after playing.

    ## What to try first
    `venv.training = False` and `venv.norm_reward = False`, right after it is loaded.

    ## When it is fine
    Statistics that were saved with `training = False`.

    ## References
    Stable-Baselines3, *Vectorized environments*: VecNormalize.
    """

    code: ClassVar[str] = "NRM644"
    name: ClassVar[str] = "loaded-statistics-keep-moving"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("NRM305",)

    def check(self, evidence: Source) -> Iterator[Finding]:
        for node in ast.walk(evidence.tree):
            if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not dotted(node.targets[0]):
                continue
            name, scope = dotted(node.targets[0]), scope_of(evidence, node)
            if not library(evidence, node.value).endswith(_LOADS) or _switched(evidence, name):
                continue
            if _learns_after(scope, node) or not _played(evidence, scope, name):
                continue
            yield self.finding(
                f"{name} goes on updating its statistics while it is only played",
                where=evidence.at(node),
                seen=f"{evidence.quoted(node.value)}, and nothing sets {name}.training",
                expected="statistics that stand still while nothing is trained",
                help=f"{name}.training = False",
                confidence=0.85,
            )


def _switched(source: Source, name: str) -> bool:
    """Whether anything sets how it trains; or saves statistics that were held still already."""
    return any(
        isinstance(node, ast.Attribute)
        and node.attr in _SWITCHES
        and (dotted(node.value) == name or node.attr != "training")
        for node in ast.walk(source.tree)
    )


def _learns_after(scope: Scope, made: ast.Assign) -> bool:
    return any(
        isinstance(node, ast.Call) and method(node) == "learn" and before(made, node) for node in ast.walk(scope)
    )


def _played(source: Source, scope: Scope, name: str) -> bool:
    for call in calls(source):
        if scope_of(source, call) is not scope:
            continue
        env = argument(call, 1, "env")
        if library(source, call).endswith(".evaluate_policy") and env is not None and dotted(env) == name:
            return True
        if dotted(call.func) == f"{name}.step":
            return True
    return False
