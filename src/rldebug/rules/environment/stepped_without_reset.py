"""The environment is stepped before it was reset."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.bound import bindings, class_named, function_at, tree_of
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class SteppedWithoutReset(Rule):
    """The environment is stepped before it was reset.

    ## What it checks
    `step()` was refused because the environment has not been reset, or because its episode has ended; or it read an
    attribute that only `reset()` makes.

    ## Why it matters
    There is no state to step from.

    ## Likely causes
    1. `reset()` is missing at the start. Confirm: look for it before the loop.
    2. The loop goes on after the end of an episode, or looks at `terminated` only. Confirm: print both flags.
    3. Another environment was reset than is stepped. Confirm: print their `id()`.

    ## What to try first
    Call `reset()` before the loop, and whenever `terminated or truncated`.

    ## When it is fine
    Never: the program has ended.

    ## References
    Gymnasium, `Env.step` and `Env.reset`.
    """

    code: ClassVar[str] = "ENV402"
    name: ClassVar[str] = "stepped-without-reset"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return (
            evidence.is_a("ResetNeeded")
            or evidence.says(
                r"Cannot call env\.step\(\) before",
                "step environment that needs reset",
                "needs? (to be )?reset before",
                r"You are calling 'step\(\)' even though this environment has already returned",
                "state is None, it probably hasn't be(en)? reset yet",
            )
            or _made_by_reset(evidence) is not None
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        attribute = _made_by_reset(evidence)
        ended = evidence.says("has already returned", "needs reset")
        environments = _stepped(evidence)
        env = f"the environment {environments[0]}" if len(environments) == 1 else "the environment"
        other = _reset_instead(evidence, environments[0]) if len(environments) == 1 and not ended else None
        if other is not None:
            name, line, text = other
            yield self.finding(
                f"{environments[0]} was stepped before it was reset: line {line} resets {name} instead",
                where=replace(_caller(evidence), line=line),
                seen=f"{evidence.said}; line {line} has `{text}`, and no line resets {environments[0]}",
                expected="reset() of the environment that is stepped",
                help=f"write {environments[0]}.reset() in line {line}",
                confidence=0.95,
            )
            return
        used = "rendered" if evidence.says(r"env\.render\(\)") else "stepped"
        yield self.finding(
            f"{env} was stepped after its episode had ended" if ended else f"{env} was {used} before it was reset",
            where=_caller(evidence),
            seen=evidence.said + (f"; self.{attribute} is made in reset(), which has not run" if attribute else ""),
            expected="reset() before the first step and after each end",
            help="call reset() whenever terminated or truncated, also where the episode ends during a wrapper's own "
            "reset() or between two rollouts"
            if ended
            else "call reset() before the loop, on the same environment that is stepped",
            confidence=0.95,
        )


def _made_by_reset(crash: Crash) -> str | None:
    """The attribute of an environment that is missing, where only its reset() makes it."""
    missing = re.search(r"'(\w+)' object has no attribute '(\w+)'", crash.message)
    if missing is None or not any(frame.own and frame.function in ("step", "render") for frame in crash.frames):
        return None
    if (found := class_named(crash, missing[1])) is None:
        return None
    makers = {
        method.name
        for method in found[1].body
        if isinstance(method, ast.FunctionDef)
        for _ in bindings(method, f"self.{missing[2]}")
    }
    return missing[2] if "reset" in makers and "__init__" not in makers else None


def _reset_instead(crash: Crash, stepped: str) -> tuple[str, int, str] | None:
    """The last reset() above the step, in the same loop, where it is that of another environment, and no line of the
    function resets the one that is stepped."""
    frame = next((each for each in reversed(crash.own) if each.owner != "environment"), None)
    tree = tree_of(frame) if frame is not None else None
    if frame is None or tree is None:
        return None
    scope = function_at(tree, frame)
    resets = [
        (node.func.value, node)
        for node in ast.walk(scope)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "reset"
    ]
    if any(ast.unparse(env) == stepped for env, _ in resets):
        return None
    loops = [each for each in ast.walk(scope) if isinstance(each, ast.For | ast.While) and _around(each, frame.line)]
    near = [
        (ast.unparse(env), node)
        for env, node in resets
        if node.lineno < frame.line
        and frame.facts.get(ast.unparse(env), {}).get("kind") == "environment"
        and (not loops or any(_around(loop, node.lineno) for loop in loops))
    ]
    if not near:
        return None
    name, node = near[-1]
    return name, node.lineno, ast.unparse(node)


def _around(node: ast.For | ast.While, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _stepped(crash: Crash) -> list[str]:
    """The environments that the line outside of them names."""
    outside = [frame for frame in crash.own if frame.owner != "environment"]
    named = [(name, outside[-1].facts.get(name, {})) for name in outside[-1].operands] if outside else []
    return [name for name, fact in named if fact.get("kind") == "environment"]


def _caller(crash: Crash) -> Where:
    """The line that stepped it, rather than the one inside the environment that found nothing."""
    outside = [frame for frame in crash.own if frame.owner != "environment"]
    return replace(crash.where, file=outside[-1].file, line=outside[-1].line) if outside else crash.where
