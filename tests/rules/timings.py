"""Timings made on purpose: the text of a program, and how long it spent on which of its lines.

A line is addressed by the comment that ends it: `on("gae", 1.2)` is time spent on the line that ends with `# gae`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace
from textwrap import dedent
from typing import Any

from rldebug.evidence.source import Source, parsed
from rldebug.evidence.timing import Environment, Measured, Slice, Spot, Timing
from rldebug.finding import Finding
from rldebug.rule import Rule
from rldebug.syntax.bindings import calls_of
from rldebug.syntax.names import library, method
from rldebug.syntax.places import Function, function_of
from tests.judge import fires

FILE = "train.py"
ENVIRONMENT = Environment("CartPole-v1", steps=10_000, calls=10_000, episodes=100, spec="CartPole-v1")


@dataclass(frozen=True)
class On:
    marker: str
    slice: Slice
    via: tuple[str, ...]
    below: tuple[Spot, ...]


def on(
    marker: str, seconds: float, *, via: Sequence[str] = (), below: Sequence[Spot] = (), called: str = "", **fields: Any
) -> On:
    """Time on the marked line, in the call that is `called` so, else in its innermost call, else in all of it.

    Functions of the text that are called in one place only are entered from there; `via` names the lines of other
    callers, the outermost first. `below` are the frames of libraries that the line has called. The rest is as in Slice.
    """
    made = Slice(seconds, max(1, round(seconds * 500)), (), called=called, **fields)
    return On(marker, made, tuple(via), tuple(below))


def library_spot(file: str, function: str, kind: str = "") -> Spot:
    return Spot(f"/venv/lib/python3.11/site-packages/{file}", function, 1, kind)


NETWORK = library_spot("torch/nn/modules/module.py", "Module._call_impl", "module")
SIMULATOR = library_spot("gymnasium/envs/classic_control/cartpole.py", "CartPoleEnv.step", "environment")


def timing(code: str, slices: Sequence[On] = (), seconds: float = 10.0, **fields: Any) -> Timing:
    """A run of so many seconds. What no slice accounts for is spent in the simulator."""
    source = parsed(dedent(code), FILE)
    made = [_slice(source, each) for each in slices]
    rest = seconds - sum(each.seconds for each in made if each.thread == 0)
    assert rest > -1e-9, "the slices take longer than the run"
    if rest > 1e-9:
        made.append(Slice(rest, 1, (SIMULATOR,), "step", "step", inside=True, part="simulator"))
    usual: dict[str, Any] = {
        "env_steps": 10_000,
        "updates": 1_000,
        "phases": 10,
        "interval": 0.002,
        "environments": (ENVIRONMENT,),
    }
    return Timing(seconds=seconds, slices=tuple(made), sources=(source,), **(usual | fields))


def yardstick(*measured: Measured) -> dict[str, Measured]:
    return {each.name: each for each in measured}


def line_of(code: str, marker: str) -> int:
    return _line(parsed(dedent(code), FILE), marker)


def by_line(made: Timing) -> Timing:
    """As Python 3.10 tells it: no more than the line."""

    def plain(spot: Spot) -> Spot:
        return replace(spot, end_line=0, column=0, end_column=0)

    return replace(made, slices=tuple(replace(each, stack=tuple(map(plain, each.stack))) for each in made.slices))


def points_at_line(rule: Rule, made: Timing, marker: str) -> Finding:
    """The rule fires once, at the marked line, with a gain that is worth it."""
    finding = fires(rule, made)
    found = list(rule.check(made))
    assert len(found) == 1, f"{rule.name} gives {len(found)} findings: {[each.message for each in found]}"
    expected = _line(made.sources[0], marker)
    assert (finding.where.file, finding.where.line) == (FILE, expected), f"{rule.name} blames {finding.where}"
    assert finding.speedup is not None
    assert finding.speedup >= 1.05
    return finding


def _slice(source: Source, each: On) -> Slice:
    line = _line(source, each.marker)
    node = _node(source, line, each.slice.called)
    stack = [_spot(source, _node(source, _line(source, caller), "")) for caller in each.via]
    own = _callers(source, _statement(source, _line(source, each.via[0])) if each.via else node)
    own = [*own, *stack, _spot(source, node)]
    called = each.slice.called or _called(source, node)
    return replace(each.slice, stack=(*own, *each.below), called=called)


def _line(source: Source, marker: str) -> int:
    lines = [place for place, line in enumerate(source.lines, 1) if line.rstrip().endswith(f"# {marker}")]
    assert len(lines) == 1, f"{len(lines)} lines end with # {marker}"
    return lines[0]


def _statement(source: Source, line: int) -> ast.stmt:
    found = [
        node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return min(found, key=lambda node: ((node.end_lineno or 0) - node.lineno, -node.col_offset))


def _node(source: Source, line: int, called: str) -> ast.expr | ast.stmt:
    statement = _statement(source, line)
    inner = [
        node
        for node in ast.walk(statement)
        if isinstance(node, ast.expr) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    calls = [node for node in inner if isinstance(node, ast.Call)]
    if called and (named := [node for node in calls if _called(source, node) == called]):
        return named[0]
    simple = [node for node in calls if not any(other is not node for other in ast.walk(node) if other in calls)]
    value = next((node for node in inner if not isinstance(node, ast.Name | ast.Constant)), statement)
    return simple[0] if simple else value


def _spot(source: Source, node: ast.expr | ast.stmt) -> Spot:
    function = function_of(source, node)
    end = node.end_lineno or node.lineno
    name = function.name if function is not None else "<module>"
    return Spot(FILE, name, node.lineno, "user", end, node.col_offset, node.end_col_offset or 0)


def _called(source: Source, node: ast.AST) -> str:
    if not isinstance(node, ast.Call):
        return ""
    if name := library(source, node):
        return name
    return f".{method(node)}" if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)


def _callers(source: Source, node: ast.AST) -> list[Spot]:
    """From the module down to the function that a node stands in, as far as each is called in one place."""
    found: list[Spot] = []
    function = function_of(source, node)
    seen: set[Function] = set()
    while function is not None and function not in seen:
        seen.add(function)
        calls = calls_of(source, function)
        if len(calls) != 1:
            break
        found.insert(0, _spot(source, calls[0]))
        function = function_of(source, calls[0])
    return found
