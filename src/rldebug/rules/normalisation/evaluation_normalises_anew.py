"""The evaluation's VecNormalize begins with statistics of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.flow import meant, within
from rldebug.syntax.names import argument, dotted, library
from rldebug.syntax.places import before, calls, parents, scope_of

_EVALUATES = "evaluate_policy"
_CHANGES_NOTHING = ("training", "norm_reward", "norm_obs", "seed", "reset", "step", "close", "render", "num_envs")


@dataclass(frozen=True, kw_only=True)
class EvaluationNormalisesAnew(Rule):
    """The evaluation's VecNormalize begins with statistics of its own.

    ## What it checks
    `evaluate_policy()` of Stable-Baselines3 is given a `VecNormalize` that was just made, not loaded, whose statistics
    nobody sets or synchronises, and which is not the environment of the training. Read from the source.

    ## Why it matters
    The policy learned from observations that were normalised by the training's mean and variance. Here they are
    normalised by others, at first by none: the evaluation shows a policy that does not know where it is.

    ## Likely causes
    1. The statistics were not saved with the model, or not loaded. Confirm: print `env.obs_rms.mean` of both.

    ## What to try first
    `VecNormalize.load(path, venv)` with `training = False`, or `sync_envs_normalization(train_env, eval_env)`.

    ## When it is fine
    Nothing that is known of.

    ## References
    NRM-07 of bench/bugs; Stable-Baselines3, *Vectorized environments: VecNormalize*.
    """

    code: ClassVar[str] = "NRM642"
    name: ClassVar[str] = "evaluation-normalises-anew"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("NRM301", "NRM361")

    def check(self, evidence: Source) -> Iterator[Finding]:
        for call in calls(evidence):
            env = argument(call, 1, "env")
            if library(evidence, call).rpartition(".")[2] != _EVALUATES or env is None:
                continue
            made = meant(evidence, env)
            if not library(evidence, made).endswith(".VecNormalize") or not _left_alone(evidence, env, made):
                continue
            yield self.finding(
                f"{dotted(env) or 'the environment'} normalises with statistics of its own, not those of the training",
                where=evidence.at(made),
                seen=f"{evidence.quoted(made)}, given to {_EVALUATES}() on line {call.lineno}",
                expected="the statistics that the policy was trained with",
                help="VecNormalize.load(path, venv), then training = False",
                confidence=0.88,
            )


def _left_alone(source: Source, env: ast.expr, made: ast.expr) -> bool:
    """Whether the environment, once made, goes nowhere but into evaluate_policy(), and gets no statistics."""
    name = dotted(env)
    if not name:
        return True  # made in the call itself
    for node in ast.walk(scope_of(source, env)):
        if not isinstance(node, ast.Name | ast.Attribute) or dotted(node) != name or not isinstance(node.ctx, ast.Load):
            continue
        if before(node, made) or within(made, node):
            continue  # what it was made of
        above = parents(source).get(node)
        if isinstance(above, ast.keyword):
            above = parents(source).get(above)
        if isinstance(above, ast.Attribute):
            if above.attr not in _CHANGES_NOTHING:
                return False
        elif not (isinstance(above, ast.Call) and library(source, above).rpartition(".")[2] == _EVALUATES):
            return False
    return True
