"""What an option had switched off is not what ran."""

import ast

import pytest

from rldebug.evidence.source import parsed
from rldebug.syntax.taken import as_run


def left(text, settings=None, **options):
    return ast.unparse(as_run(parsed(text), settings or {}, options).tree)


@pytest.mark.parametrize(
    ("text", "settings", "expected"),
    [
        ("OFF = False\nif OFF:\n    wrong()\nelse:\n    right()", {"OFF": False}, "OFF = False\nright()"),
        ("OFF = False\nif OFF:\n    wrong()", {"OFF": False}, "OFF = False\npass"),
        ("BUG = get()\nx = wrong() if BUG == 'sign' else right()", {"BUG": ""}, "BUG = get()\nx = right()"),
        ("A = 1\nif A and x:\n    f()", {"A": 0}, "A = 1\npass"),
        ("A = 1\nif not A or x:\n    f()", {"A": 0}, "A = 1\nf()"),
        ("A = 1\nif A in ('x', 'y'):\n    f()", {"A": "z"}, "A = 1\npass"),
    ],
    ids=["else", "nothing", "expression", "and", "or", "in"],
)
def test_what_was_not_taken_is_gone(text, settings, expected):
    assert left(text, settings) == expected


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("if OFF:\n    f()", {}),
        ("OFF = False\nOFF = read()\nif OFF:\n    f()", {"OFF": False}),
        ("OFF = False\ndef g(OFF):\n    if OFF:\n        f()", {"OFF": False}),
        ("OFF = False\ndef g():\n    global OFF\n    if OFF:\n        f()", {"OFF": False}),
        ("for i in range(3):\n    if i == 0:\n        f()", {"i": 2}),
        ("while True:\n    done = step()\n    if done:\n        f()", {"done": False}),
        ("A = 0\nif A < 'x':\n    f()", {"A": 0}),
        ("if __name__ == '__main__':\n    f()", {}),
    ],
    ids=["unknown", "twice", "argument", "global", "loop", "in a loop", "not comparable", "main"],
)
def test_what_may_have_changed_stays(text, settings):
    source = parsed(text)
    assert as_run(source, settings, {}) is source


def test_options_are_read_as_attributes_unless_something_is_stored_there():
    text = "def train(args):\n    if args.gae:\n        f()\n    else:\n        g()"
    assert left(text, gae=True) == "def train(args):\n    f()"
    assert "args.gae" in left(text + "\nargs.gae = False", gae=True)
    assert "args.gae" in left(text, other=True)


def test_places_stay_what_they_are():
    source = as_run(parsed("OFF = 0\nif OFF:\n    a()\nelse:\n    b()\nc()"), {"OFF": 0}, {})
    assert [each.lineno for each in source.tree.body] == [1, 5, 6]
