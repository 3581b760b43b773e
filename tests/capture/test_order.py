import sys

from rldebug.capture.order import comes_before, place_of

HERE = {}


def note(name):
    HERE[name] = place_of(sys._getframe(1))


def inner(name):
    note(name)


def test_two_lines_of_one_function():
    note("one")
    note("two")
    assert comes_before(HERE["one"], HERE["two"]) is True
    assert comes_before(HERE["two"], HERE["one"]) is False


def test_two_functions_called_from_one():
    inner("one")
    note("two")
    inner("three")
    assert comes_before(HERE["one"], HERE["two"]) is True
    assert comes_before(HERE["three"], HERE["two"]) is False
    # The same line of the same function, reached from two: the lines of the function above it decide.
    assert comes_before(HERE["one"], HERE["three"]) is True


def test_one_and_the_same_place_tells_nothing():
    for name in ("one", "two"):
        note(name)
    assert comes_before(HERE["one"], HERE["two"]) is None
    assert comes_before((), HERE["one"]) is None


def test_a_deep_stack_is_cut():
    def dive(depth):
        return place_of(sys._getframe()) if depth == 0 else dive(depth - 1)

    assert len(dive(500)) == 256
