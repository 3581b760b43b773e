import threading

import pytest

import rldebug
from rldebug.span import under_way

HERE = threading.get_ident


def test_the_innermost_counts_and_what_ends_is_over():
    assert under_way(HERE()) == ""
    with rldebug.span("outer"):
        with rldebug.span("inner"):
            assert under_way(HERE()) == "inner"
        assert under_way(HERE()) == "outer"
    assert under_way(HERE()) == ""


def test_it_is_over_where_something_was_raised():
    with pytest.raises(ZeroDivisionError), rldebug.span("reward model"):
        raise ZeroDivisionError
    assert under_way(HERE()) == ""


def test_as_a_decorator_it_leaves_the_function_as_it_was():
    @rldebug.span("scoring")
    def score(text, scale=2):
        """Doc."""
        return under_way(HERE()), text * scale

    assert score("a") == ("scoring", "aa")
    assert (score.__name__, score.__doc__) == ("score", "Doc.")
    assert under_way(HERE()) == ""


def test_each_thread_has_its_own():
    names = []
    with rldebug.span("here"):
        thread = threading.Thread(target=lambda: names.append(under_way(HERE())))
        thread.start()
        thread.join()
    assert names == [""]


@pytest.mark.parametrize("name", ["", "  ", None, 3])
def test_a_name_is_expected(name):
    with pytest.raises(TypeError, match="takes a name"):
        rldebug.span(name)


def test_a_decorator_wants_a_function():
    with pytest.raises(TypeError, match="decorates a function"):
        rldebug.span("x")(3)
