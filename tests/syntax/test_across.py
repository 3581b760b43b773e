import ast
from textwrap import dedent

import pytest

from rldebug.evidence.source import parsed
from rldebug.syntax.across import Value, back, program_of
from rldebug.syntax.quantities import walk
from tests.syntax.snippets import asked


def leads_to(code, *more):
    """The names and calls that the marked expression is computed from, in any of the files."""
    first = parsed(dedent(code), "a.py")
    program = program_of([first, *(parsed(dedent(each), f"{number}.py") for number, each in enumerate(more))])
    return {ast.unparse(each.node) for each in walk(program, [asked(first)]).made_of}


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("x = secret\nx  # ask", id="a name"),
        pytest.param("x = []\nx.append(secret)\nx[0]  # ask", id="a list"),
        pytest.param("x = zeros(3)\nx[1] = secret\nx  # ask", id="an array"),
        pytest.param("a, x = other, secret\nx  # ask", id="unpacked"),
        pytest.param("x, y[0] = f(), secret\ny  # ask", id="unpacked into an array"),
        pytest.param("d = {'k': secret}\ne['k']  # ask", id="by key"),
        pytest.param("d['k'].append(secret)\nd['k'][3]  # ask", id="a dict of lists"),
        pytest.param("m.add(k=secret)\nb['k']  # ask", id="a memory of a library"),
        pytest.param("def f(a):\n    return a\nf(secret)  # ask", id="a function"),
        pytest.param("def f(a):\n    yield a\nfor x in f(secret):\n    x  # ask", id="a generator"),
        pytest.param("def f(a):\n    a.append(secret)\nl = []\nf(l)\nl  # ask", id="a list that is handed over"),
        pytest.param(
            "class A:\n    def f(self, v):\n        self.kept = v\na.f(secret)\nb.kept  # ask", id="attributes"
        ),
        pytest.param("m.append((other, secret))\nfor p, q in rows:\n    q  # ask", id="rows in a loop"),
        pytest.param("m.append((other, secret))\np, q = zip(*m)\nq  # ask", id="rows turned into columns"),
        pytest.param("m.append((other, secret))\n[row[1] for row in m]  # ask", id="rows by their place"),
        pytest.param("R = namedtuple('R', 'p q')\nm.append(R(other, secret))\nb.q  # ask", id="records"),
        pytest.param("class R:\n    p: int\n    q: int\nR(*map(f, (other, secret)))\nb.q  # ask", id="a star"),
        pytest.param("R = namedtuple('R', 'p q')\ndef f(*a):\n    R(*a)\nf(other, secret)\nb.q  # ask", id="two stars"),
        pytest.param("class A:\n    def __call__(self, v):\n        return v\na = A()\na(secret)  # ask", id="objects"),
        pytest.param("x = first if c else secret\nx  # ask", id="either"),
    ],
)
def test_what_a_value_comes_from(code):
    found = leads_to(code)
    assert "secret" in found
    assert "other" not in found


def test_across_files():
    main = "from helper import f\nf(secret)  # ask"
    assert "secret" in leads_to(main, "def f(a):\n    return g(a)\ndef g(b):\n    return b + 1")


def test_a_name_of_another_file():
    assert "0.99" in leads_to("from settings import GAMMA\nGAMMA  # ask", "GAMMA = 0.99")


@pytest.mark.parametrize("code", ["len(secret)  # ask", "zeros_like(secret)  # ask", "secret.shape  # ask"])
def test_sizes_tell_nothing_of_what_is_inside(code):
    assert "secret" not in leads_to(code)


def test_a_call_that_many_functions_could_be_meant_by_is_followed_into_none():
    classes = "".join(f"class C{number}:\n    def f(self):\n        return secret\n" for number in range(5))
    assert "secret" not in leads_to(f"{classes}x.f()  # ask")


def test_a_function_that_calls_itself_comes_to_an_end():
    assert "x" in leads_to("def f(a):\n    return f(a) + x\nf(1)  # ask")


def test_an_environment_is_where_it_begins():
    source = parsed("o, r, end, late, info = env.step(a)")
    program = program_of([source])
    [step] = program.steps
    assert back(program, Value(step, ((1, 5),))) == []
