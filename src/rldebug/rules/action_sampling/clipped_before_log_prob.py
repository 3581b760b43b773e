"""The log-prob is asked for an action that was clipped after it was drawn."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.flow import meant
from rldebug.syntax.names import library, method, receiver
from rldebug.syntax.places import calls

_NORMAL = ("Normal", "MultivariateNormal", "LowRankMultivariateNormal")
_CLIPS = frozenset({"torch.clamp", "torch.clip", "numpy.clip"})


@dataclass(frozen=True, kw_only=True)
class ClippedBeforeLogProb(Rule):
    """The log-prob is asked for an action that was clipped after it was drawn.

    ## What it checks
    `pi.log_prob(a)` of a normal distribution, where `a` is a sample of that same `pi` that went through `clamp` or
    `clip`. Read from the source.

    ## Why it matters
    Where the action was clipped, the log-prob is that of the bound, whatever was drawn. The gradient pulls the mean
    towards the bounds, and the ratio of PPO is off there.

    ## Likely causes
    1. The action is clipped one line too early. Confirm: compare with the log-prob of what was drawn.

    ## What to try first
    Keep what was drawn for `log_prob` and the buffer, and clip only what the environment gets.

    ## When it is fine
    Nothing that is known of.

    ## References
    ACT-01 of bench/bugs. Fujita and Maeda, *Clipped action policy gradient*.
    """

    code: ClassVar[str] = "ACT604"
    name: ClassVar[str] = "clipped-before-log-prob"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("ACT357", "ACT320")

    def check(self, evidence: Source) -> Iterator[Finding]:
        for call in calls(evidence):
            pi = receiver(call)
            if method(call) != "log_prob" or pi is None or len(call.args) != 1 or not _normal(evidence, pi):
                continue
            clip = _clip(evidence, call.args[0])
            if clip is not None and _drawn_from(evidence, clip, pi):
                name = evidence.quoted(call.args[0])
                yield self.finding(
                    f"{name} was clipped after it was drawn, and its log-prob is that of the bound",
                    where=evidence.at(call),
                    seen=f"{evidence.quoted(clip)} in line {clip.lineno}, then {evidence.quoted(call)}",
                    expected="the log-prob of what was drawn",
                    help=f"take {evidence.quoted(call.func)}(…) of the sample; clip only what env.step() gets",
                    confidence=0.92,
                )


def _normal(source: Source, pi: ast.expr) -> bool:
    """Whether a distribution was made as a normal one, which has no bounds."""
    made = meant(source, pi)
    name = library(source, made).rpartition(".")[2]
    if name == "Independent" and isinstance(made, ast.Call) and made.args:
        return _normal(source, made.args[0])
    return name in _NORMAL


def _clip(source: Source, action: ast.expr) -> ast.Call | None:
    made = meant(source, action)
    if not isinstance(made, ast.Call):
        return None
    clips = library(source, made) in _CLIPS or (not library(source, made) and method(made) in ("clamp", "clip"))
    return made if clips else None


def _drawn_from(source: Source, clip: ast.Call, pi: ast.expr) -> bool:
    inner = clip.args[0] if library(source, clip) and clip.args else receiver(clip)
    drawn = meant(source, inner) if inner is not None else None
    if drawn is None or method(drawn) not in ("sample", "rsample") or (maker := receiver(drawn)) is None:
        return False
    return meant(source, maker) is meant(source, pi)
