"""The loop goes on when the time limit ends an episode."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.made_envs import convention
from rldebug.syntax.names import constant, dotted, method
from rldebug.syntax.places import loops_of, own_nodes, scope_of
from rldebug.syntax.stepping import Step, is_vector_env, steps


@dataclass(frozen=True, kw_only=True)
class TimeLimitFlagIgnored(Rule):
    """The loop goes on when the time limit ends an episode.

    ## What it checks
    `step()` of an environment from `gymnasium.make` is unpacked into five names, the fourth is never read, and the
    loop around it ends or resets on the third alone. Read from the source.

    ## Why it matters
    Where the time limit ends an episode, the environment is not reset. It is stepped beyond its end, for ever where
    the agent has learned to survive, and episodes get longer than they can be.

    ## Likely causes
    1. `done = terminated or truncated` was shortened. Confirm: count the steps of one episode.
    2. The program was written for the old Gym, where `done` was both. Confirm: the same.

    ## What to try first
    `done = terminated or truncated`.

    ## When it is fine
    In environments that have no time limit.

    ## References
    Gymnasium, *Handling time limits*.
    """

    code: ClassVar[str] = "ENV606"
    name: ClassVar[str] = "time-limit-flag-ignored"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("ENV300", "ENV003")

    def check(self, evidence: Source) -> Iterator[Finding]:
        for step in steps(evidence):
            flags = dict(step.parts)
            if (
                len(step.parts) != 5
                or convention(evidence, step.env) != "gymnasium"
                or is_vector_env(evidence, step.env)
            ):
                continue
            ended, cut = flags["terminated"], flags["truncated"]
            loops = loops_of(evidence, step.call)
            if not (isinstance(ended, ast.Name) and isinstance(cut, ast.Name) and loops) or _read(evidence, cut):
                continue
            decides = _decides(evidence, ended.id, step, loops)
            if decides is not None:
                yield self.finding(
                    f"only {ended.id} ends the episode in line {decides.lineno}: the time limit does not",
                    where=evidence.at(step.statement),
                    seen=f"{evidence.quoted(step.statement)}: nobody reads {cut.id}",
                    expected=f"{ended.id} or truncated ends the episode",
                    help=f"done = {ended.id} or truncated, and reset on done",
                    confidence=0.85,
                )


def _read(source: Source, target: ast.Name) -> bool:
    """Whether anybody reads a name in the function where it is bound."""
    return any(
        isinstance(node, ast.Name) and node.id == target.id and isinstance(node.ctx, ast.Load)
        for node in ast.walk(scope_of(source, target))
    )


def _decides(source: Source, flag: str, step: Step, loops: list[ast.For | ast.While | ast.AsyncFor]) -> ast.expr | None:
    """The condition on a flag alone by which a `while` goes on, or by which the environment is reset in the loop."""
    inner = loops[0]
    names = {flag} | _copies(inner, flag)
    if isinstance(inner, ast.While) and _only(inner.test, names):
        return inner.test
    for node in own_nodes(inner):
        if isinstance(node, ast.If) and _only(node.test, names):
            resets = any(isinstance(each, ast.Call) and method(each) == "reset" for each in ast.walk(node))
            breaks = any(isinstance(each, ast.Break) for each in ast.walk(node)) and isinstance(inner, ast.While)
            if resets or (breaks and constant(getattr(inner, "test", None)) is True):
                return node.test
    return None


def _copies(loop: ast.AST, flag: str) -> set[str]:
    return {
        dotted(node.targets[0])
        for node in ast.walk(loop)
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and dotted(node.value) == flag
    } - {""}


def _only(test: ast.expr, names: set[str]) -> bool:
    """The flag, or `not` of it."""
    return dotted(test.operand if isinstance(test, ast.UnaryOp) else test) in names
