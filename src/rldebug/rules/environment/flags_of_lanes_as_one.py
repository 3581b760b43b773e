"""The flags of several environments are used as one truth value."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.source import Source
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule
from rldebug.syntax.bindings import reaching
from rldebug.syntax.made_envs import lanes
from rldebug.syntax.stepping import Step, is_vector_env, steps


@dataclass(frozen=True, kw_only=True)
class FlagsOfLanesAsOne(Rule):
    """The flags of several environments are used as one truth value.

    ## What it checks
    `if`, `while`, `not`, `and` or `or` with the terminated, truncated or done flags of a vector environment that
    has two lanes or more. How many it has is read from the source.

    ## Why it matters
    An array of several flags is neither true nor false: the program stops with a ValueError.

    ## Likely causes
    1. The loop was written for a single environment. Confirm: print the shape of the flags.

    ## What to try first
    `terminated | truncated` for all lanes; `.any()`, `.all()`, or a loop over the lanes in a condition.

    ## When it is fine
    With one lane, which is not reported.

    ## References
    Gymnasium, *Vectorize*.
    """

    code: ClassVar[str] = "ENV608"
    name: ClassVar[str] = "flags-of-lanes-as-one"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Source"
    explains: ClassVar[tuple[str, ...]] = ("ENV407",)

    def check(self, evidence: Source) -> Iterator[Finding]:
        for node in ast.walk(evidence.tree):
            for flag in _truths(node):
                step = _flag_of(evidence, flag)
                count = lanes(evidence, step.env) if step is not None else None
                if step is not None and count is not None and count >= 2:
                    name = evidence.quoted(flag)
                    yield self.finding(
                        f"{name} holds a flag for each of {int(count)} environments and is used as one",
                        where=evidence.at(flag),
                        seen=f"{name} of {evidence.quoted(step.call)} as a truth value",
                        expected="a decision for each lane, or .any() or .all()",
                        help=f"{name}.any(), or terminated | truncated for all lanes at once",
                        confidence=0.93,
                    )


def _truths(node: ast.AST) -> list[ast.expr]:
    """What a statement or an operator asks for its truth."""
    if isinstance(node, ast.BoolOp):
        return node.values[:1]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return [node.operand]
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        return [node.test]
    return []


def _flag_of(source: Source, flag: ast.expr) -> Step | None:
    """The step of a vector environment that all but constants give this flag."""
    if not isinstance(flag, ast.Name):
        return None
    found = []
    for binding in reaching(source, flag):
        if isinstance(binding.whole, ast.Constant):
            continue
        step = next((each for each in steps(source) if each.statement is binding.node), None)
        role = step.parts[binding.path[0]][0] if step is not None and binding.path else ""
        if step is None or role not in ("terminated", "truncated", "done") or not is_vector_env(source, step.env):
            return None
        found.append(step)
    return found[0] if found else None
