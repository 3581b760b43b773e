from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from rldebug.evidence.source import parsed
from rldebug.evidence.timings.loops import Loop, carried, loops_at, sums_what_follows


def loop(code):
    source = parsed(dedent(code))
    return Loop(source, next(each for each in ast.walk(source.tree) if isinstance(each, ast.For | ast.While)))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("R = r + 0.99 * R", {"R": True}),
        ("R = r + R", {"R": False}),
        ("R *= gamma", {"R": True}),
        ("R += r", {"R": False}),
        ("if r:\n        R = 0\n    R = r + gamma * R", {"R": True}),
        ("d = r + gamma * last\n    last = d + 1", {"last": True}),
        ("x[t] = r + gamma * x[t + 1]", {"x": True}),
        ("x[t] = 2 * x[t]", {}),
        ("a, b = b, a + b", {"a": False, "b": False}),
        ("self.mean = 0.9 * self.mean + 0.1 * r", {"self.mean": True}),
        ("i += 1", {}),
        ("i = i - 1", {}),
        ("x = r\n    x = 2 * x", {}),
        ("y = f(r)", {}),
        ("h = cell(r, h)", {"h": False}),
    ],
)
def test_what_the_next_round_gets_from_this_one(body, expected):
    found = carried(loop(f"for t, r in enumerate(rewards):\n    {body}\n"))
    assert found == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("for t in range(n):\n    out.append(sum(r[t:]))", True),
        ("for t in range(n):\n    out.append(r[:t].sum())", True),
        ("for t in range(n):\n    G = 0\n    for k in range(t, n):\n        G += r[k]", True),
        ("for t in range(n):\n    out.append(sum(r))", False),
        ("for t in range(0, n, 64):\n    learn(r[t:t + 64])", False),
        ("for t in range(n):\n    for k in range(3):\n        G += r[k]", False),
    ],
)
def test_rounds_that_sum_what_follows_them(code, expected):
    assert sums_what_follows(loop(code)) is expected


@pytest.mark.parametrize(
    ("over", "expected"),
    [("reversed(r)", True), ("r[::-1]", True), ("range(n, -1, -1)", True), ("range(n)", False), ("r[1:]", False)],
)
def test_loops_that_go_backwards(over, expected):
    assert loop(f"for t in {over}:\n    pass").backwards is expected


def test_what_a_loop_goes_over_is_worked_out_before_it():
    source = parsed("for a in rows:\n    x = [f(b, c) for b in g(a) for c in h(b)]\n")
    calls = {ast.unparse(each): each for each in ast.walk(source.tree) if isinstance(each, ast.Call)}
    kinds = {name: [type(each.node).__name__ for each in loops_at(source, node)] for name, node in calls.items()}
    assert kinds == {"f(b, c)": ["ListComp", "For"], "g(a)": ["For"], "h(b)": ["ListComp", "For"]}


def test_functions_end_the_loops_around_them():
    source = parsed("for a in rows:\n    def f():\n        return g()\n")
    (call,) = (each for each in ast.walk(source.tree) if isinstance(each, ast.Call))
    assert loops_at(source, call) == ()
