import ast

import pytest

from rldebug.syntax.bindings import reaching
from tests.syntax.snippets import asked, text


def _values(code: str) -> list[str]:
    source = text(code)
    return [ast.unparse(each.value) if each.value is not None else each.how for each in reaching(source, asked(source))]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param("x = 1\nx = 2\nx  # ask", ["2"], id="the last assignment hides the one before"),
        pytest.param("x = 1\nif c:\n    x = 2\nx  # ask", ["2", "1"], id="one in a branch does not hide"),
        pytest.param("if c:\n    x = 1\nelse:\n    x  # ask", [], id="the other branch does not reach"),
        pytest.param("if c:\n    x = 1\n    x  # ask", ["1"], id="the same branch reaches"),
        pytest.param(
            "x = 1\nwhile c:\n    x  # ask\n    x = 2", ["1", "2"], id="a later one reaches in the next round"
        ),
        pytest.param("for i in y:\n    x = i\n    x  # ask\n    x = 2", ["i"], id="bound anew in each round"),
        pytest.param("def f(x):\n    x  # ask", ["parameter"], id="a parameter"),
        pytest.param("def f(x):\n    x = g(x)\n    x  # ask", ["g(x)"], id="a parameter that is replaced"),
        pytest.param("x = 1\ndef f():\n    x  # ask", ["1"], id="from around the function"),
        pytest.param("a, (b, x) = f()\nx  # ask", ["f()"], id="unpacked"),
        pytest.param("a, x = 1, 2\nx  # ask", ["2"], id="unpacked from a tuple that is written out"),
        pytest.param("with g() as x:\n    x  # ask", ["g()"], id="entered"),
        pytest.param("with g():\n    x = 1\nx  # ask", ["1"], id="a with block always runs"),
        pytest.param("x = 1\nx = x + 1\nx  # ask", ["x + 1"], id="the right side is bound before"),
        pytest.param("x = 1\nx += 2\nx  # ask", ["2", "1"], id="an augmented assignment keeps what was there"),
    ],
)
def test_what_reaches_a_name(code: str, expected: list[str]) -> None:
    assert _values(code) == expected


def test_what_reaches_an_attribute() -> None:
    code = """
        class Agent(Base):
            def __init__(self):
                self.net = make()

            def update(self):
                self.net  # ask

        class Base:
            def build(me):
                me.net = other()
    """
    assert _values(code) == ["other()", "make()"]


def test_an_attribute_that_was_just_set_is_that() -> None:
    code = """
        class Agent:
            def __init__(self):
                self.net = make()

            def update(self):
                self.net = again()
                self.net  # ask
    """
    assert _values(code) == ["again()"]
