import ast
from textwrap import dedent

import pytest

from rldebug.evidence.source import parsed
from rldebug.evidence.timing import Spot
from rldebug.evidence.timings.nodes import called_at, node_at, statement_at

TEXT = dedent(
    """\
    import torch as th
    from numpy.random import choice

    def collect(env, buffer, größe):
        for action in env.actions:
            reward = th.tensor(env.step(action)).to("cpu")
            buffer.add(
                choice(größe),
                [each.item() for each in reward],
            )
            print(reward); buffer.clear()
        return helper(reward)

    while th.rand(1) < 2:
        reward = 1 @ 2
    """
)
SOURCE = parsed(TEXT, "train.py")
LINES = TEXT.splitlines()


def spot(text, line_with=None):
    """The place of an expression, as Python 3.11 knows it: columns in bytes."""
    place = next(i for i, each in enumerate(LINES) if (line_with or text) in each)
    column = len(LINES[place].partition(text)[0].encode())
    return Spot("train.py", "f", place + 1, "user", place + 1, column, column + len(text.encode()))


def line(text):
    """The place of a line: all that Python 3.10 knows."""
    place = next(i for i, each in enumerate(LINES, 1) if text in each)
    return Spot("train.py", "f", place, "user")


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("th.tensor(env.step(action))", "torch.tensor"),
        ("env.step(action)", ".step"),
        ('th.tensor(env.step(action)).to("cpu")', ".to"),
        ("choice(größe)", "numpy.random.choice"),
        ("each.item()", ".item"),
        ("print(reward)", "print"),
        ("buffer.clear()", ".clear"),
        ("helper(reward)", "helper"),
        ("th.rand(1)", "torch.rand"),
        ("1 @ 2", ""),
    ],
)
def test_what_is_called_at_an_exact_place(text, called):
    assert called_at(SOURCE, spot(text)) == called


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("reward = th.tensor", ".to"),
        ("return helper", "helper"),
        ("for action", ""),
        ("reward = 1", ""),
        ("buffer.add(", ".add"),
        ("choice(größe)", ".add"),  # in the statement that goes on there
    ],
)
def test_what_is_called_on_a_line(text, called):
    assert called_at(SOURCE, line(text)) == called


def test_a_statement_has_its_head_and_its_body_has_its_own():
    assert isinstance(node_at(SOURCE, line("for action")), ast.For)
    assert isinstance(node_at(SOURCE, line("while th")), ast.While)
    assert isinstance(node_at(SOURCE, line("reward = 1")), ast.Assign)
    assert isinstance(node_at(SOURCE, line("def collect")), ast.FunctionDef)


def test_the_statement_of_an_expression():
    found = statement_at(SOURCE, spot("each.item()"))
    assert isinstance(found, ast.Expr)
    assert found.lineno == line("buffer.add(").line


def test_of_two_at_the_same_place_the_inner_one():
    source = parsed("f(x)\n", "a.py")
    assert isinstance(node_at(source, Spot("a.py", "", 1, "user", 1, 0, 4)), ast.Call)


def test_a_place_that_is_not_in_the_text():
    """The file was changed since, or the line is a blank one."""
    nowhere = Spot("train.py", "f", 400, "user", 400, 3, 9)
    assert node_at(SOURCE, nowhere) is None
    assert statement_at(SOURCE, nowhere) is None
    assert called_at(SOURCE, nowhere) == ""
    off = Spot("train.py", "f", line("return helper").line, "user", 12, 1, 2)
    assert isinstance(node_at(SOURCE, off), ast.Return)  # no such expression: the line
