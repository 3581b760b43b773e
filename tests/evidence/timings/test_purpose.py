"""What a function is about, by its text."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from rldebug.evidence.source import Source, parsed
from rldebug.evidence.timings.purpose import discounts, joins, purpose


def _read(text: str) -> tuple[Source, ast.FunctionDef]:
    source = parsed(text, "train.py")
    first = next(each for each in source.tree.body if isinstance(each, ast.FunctionDef))
    return source, first


@pytest.mark.parametrize(
    ("body", "about"),
    [
        ("torch.save(net.state_dict(), path)", "saving"),
        ("print(loss, file=out)", "logging"),
        ("board.add_scalar('loss', loss, i)", "logging"),
        ("return net.state_dict()", ""),
    ],
)
def test_by_calls_of_libraries(body: str, about: str) -> None:
    assert purpose(*_read(f"import torch\ndef f(net, path, loss, out, board, i):\n    {body}\n")) == about


@pytest.mark.parametrize(
    ("loop", "expected"),
    [
        ("for r in reversed(rewards):\n        x = r + 0.9 * x", True),
        ("for t in range(9, -1, -1):\n        x = rewards[t] + 0.9 * x", True),
        ("for r in rewards[::-1]:\n        x = r + 0.9 * x", True),
        ("for r in rewards:\n        x = 0.1 * r + 0.9 * x", False),  # a running mean
        ("for r in reversed(rewards):\n        x = r + 0.9 * y", False),
    ],
)
def test_returns_work_back_through_time(loop: str, expected: bool) -> None:
    source, function = _read(f"def f(rewards, x=0.0, y=0.0):\n    {loop}\n    return x\n")
    assert discounts(source, function, [source]) is expected


def test_a_function_that_calls_one_which_discounts() -> None:
    inner = "def g(rewards, x=0.0):\n    for r in rewards[::-1]:\n        x = r + 0.9 * x\n"
    source, function = _read(f"def f(rewards):\n    return g(rewards)\n{inner}")
    assert discounts(source, function, [source])
    assert not discounts(source, function, [])


def test_what_was_kept_is_put_together() -> None:
    assert joins(*_read("import torch\ndef f(rows):\n    return torch.stack(rows)\n"))
    assert not joins(*_read("import torch\ndef f(rows):\n    return torch.exp(rows)\n"))


def test_a_function_that_works_something_out_may_print_too() -> None:
    text = """
        def spread(rows):
            low, high = min(rows), max(rows)
            middle = sorted(rows)[len(rows) // 2]
            print(low, high)
            return float(middle)
    """
    source = parsed(dedent(text), "train.py")
    assert purpose(source, source.tree.body[0]) == ""
