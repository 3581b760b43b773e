"""An evaluation adds up the rewards of a VecNormalize that still normalises them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.flow import meant
from rldebug.syntax.names import constant, dotted, library, method, receiver
from rldebug.syntax.places import Scope, scope_of
from rldebug.syntax.stepping import steps

_MADE = (".VecNormalize", ".VecNormalize.load")
_RAW = ("get_original_reward", "unnormalize_reward")


@dataclass(frozen=True, kw_only=True)
class NormalisedRewardSummed(Rule):
    """An evaluation adds up rewards that are still normalised.

    ## What it checks
    A `VecNormalize` of Stable-Baselines3 whose statistics are held still (`training = False`) is stepped in a loop of
    the program's own, which adds up the rewards; and nothing in the file switches `norm_reward` off, asks for the
    original reward, or reads the return that a monitor put into the info. Read from the source.

    ## Why it matters
    The rewards are divided by the spread of the returns in training. The figure is on a scale that no other run shares,
    and it shrinks as the agent gets better.

    ## Likely causes
    1. `training = False` was taken to switch normalisation of rewards off as well. Confirm: print one reward, and what
       `get_original_reward()` gives.

    ## What to try first
    `venv.norm_reward = False` after it is made or loaded.

    ## When it is fine
    Nothing that is known of.

    ## References
    NRM-06 of bench/bugs/sources.toml. Stable-Baselines3, *Vectorized environments*: VecNormalize.
    """

    code: ClassVar[str] = "EVA605"
    name: ClassVar[str] = "normalised-reward-summed"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("EVA305",)

    def check(self, evidence: Source) -> Iterator[Finding]:
        if _raw_somewhere(evidence):
            return
        for step in steps(evidence):
            made, reward, scope = meant(evidence, step.env), step.named("reward"), scope_of(evidence, step.call)
            if not reward or not isinstance(made, ast.Call) or not library(evidence, made).endswith(_MADE):
                continue
            total = next((each for each in ast.walk(scope) if _adds(each, reward)), None)
            if total is not None and _held_still(scope, made, dotted(step.env)):
                yield self.finding(
                    f"{dotted(step.env)} still normalises the rewards that the evaluation adds up",
                    where=evidence.at(total),
                    seen=f"{evidence.quoted(made)} with training = False, and norm_reward as it was in training",
                    expected="rewards as the environment pays them",
                    help=f"{dotted(step.env)}.norm_reward = False",
                    confidence=0.9,
                )


def _raw_somewhere(source: Source) -> bool:
    """Whether rewards may be left alone, or the return be taken from a monitor."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.keyword) and node.arg == "norm_reward" and constant(node.value) is not True:
            return True
        if isinstance(node, ast.Attribute) and (node.attr == "norm_reward" or node.attr in _RAW):
            return True
    return False


def _held_still(scope: Scope, made: ast.Call, env: str) -> bool:
    """Statistics do not move: it is played, and not learned from. An info of a monitor would give the return itself."""
    if any(isinstance(node, ast.Constant) and node.value == "episode" for node in ast.walk(scope)):
        return False
    if any(each.arg == "training" and constant(each.value) is False for each in made.keywords):
        return True
    return any(
        isinstance(node, ast.Assign)
        and any(dotted(target) == f"{env}.training" for target in node.targets)
        and constant(node.value) is False
        for node in ast.walk(scope)
    )


def _adds(node: ast.AST, reward: str) -> bool:
    """total += reward; rewards.append(reward); total = total + reward."""
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
        return _mentions(node.value, reward)
    if isinstance(node, ast.Call) and method(node) == "append" and receiver(node) is not None:
        return any(_mentions(each, reward) for each in node.args)
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp) and isinstance(node.value.op, ast.Add):
        kept = {dotted(each) for each in node.targets}
        return dotted(node.value.left) in kept and _mentions(node.value.right, reward)
    return False


def _mentions(node: ast.AST, name: str) -> bool:
    return any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(node))
