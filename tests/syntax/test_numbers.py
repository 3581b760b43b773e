import pytest

from rldebug.syntax.numbers import number
from tests.syntax.snippets import asked, text


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param("1 - 0.25  # ask", 0.75, id="arithmetic"),
        pytest.param("TAU = 0.005\ndef f():\n    TAU  # ask", 0.005, id="a constant of the file"),
        pytest.param("def f(tau=0.01):\n    tau  # ask", 0.01, id="a default that no call overrides"),
        pytest.param("def f(tau=0.01):\n    tau  # ask\nf(0.5)", 0.5, id="what the only call hands over"),
        pytest.param("def f(tau=0.01):\n    tau  # ask\nf(0.5)\nf(0.6)", None, id="calls that differ"),
        pytest.param("class Args:\n    tau: float = 0.02\nargs.tau  # ask", 0.02, id="a field of settings"),
        pytest.param("p.add_argument('--tau', default=0.03)\nargs.tau  # ask", 0.03, id="an option of the command"),
        pytest.param("p.add_argument('--tau', type=float)\nargs.tau  # ask", None, id="an option without a default"),
        pytest.param("x = 1\nif c:\n    x = 2\nx  # ask", None, id="one of two"),
        pytest.param("1 / 0  # ask", None, id="no number at all"),
    ],
)
def test_the_number_that_the_text_gives(code, expected):
    source = text(code)
    assert number(source, asked(source)) == expected
