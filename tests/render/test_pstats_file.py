import io
import pstats

import pytest

from rldebug.render.pstats_file import PROGRAM, write_pstats
from tests.render.timed import INNER, SLICES, UPDATE, Slice, timing, user

MODULE = ("src/train.py", 1, "<module>")
BACK = ("src/train.py", 6, "Agent.update")
WALK = ("src/train.py", 10, "Agent.walk")
LINEAR = ("/venv/linear.py", 125, "Linear.forward")


@pytest.fixture
def read(tmp_path):
    def written(made):
        write_pstats(made, tmp_path / "run.prof")
        return pstats.Stats(str(tmp_path / "run.prof"), stream=io.StringIO())

    return written


def test_seconds_in_a_function_and_below_it(read):
    stats = read(timing()).stats
    assert {each: stats[each][:4] for each in (PROGRAM, MODULE, BACK, LINEAR)} == {
        PROGRAM: (5125, 5125, 0.0, 10.25),
        MODULE: (5000, 5000, 0.0, 10.0),
        BACK: (2500, 2500, 2.5, 5.0),
        LINEAR: (1250, 1250, 2.5, 2.5),
    }


def test_seconds_add_up(read):
    stats = read(timing())
    assert stats.total_tt == pytest.approx(10.25)
    assert stats.total_calls > 0


def test_what_calls_itself_counts_once(read):
    stats = read(timing()).stats
    assert stats[WALK][:4] == (500, 500, 1.0, 1.0)
    assert stats[WALK][4] == {MODULE: (500, 500, 1.0, 1.0)}


def test_functions_that_call_each_other_count_once(read):
    other = user("Agent.update", 8)
    made = timing(slices=(Slice(3.0, 3, (UPDATE, INNER, other, INNER, other)),))
    stats = read(made).stats
    assert stats[WALK][:4] == (3, 3, 0.0, 3.0)
    assert stats[BACK][:4] == (3, 3, 3.0, 3.0)
    assert stats[WALK][4] == {MODULE: (3, 3, 0.0, 3.0)}
    assert stats[BACK][4] == {WALK: (3, 3, 3.0, 3.0)}


def test_callers_say_how_much_of_it_is_theirs(read):
    lone = Slice(1.0, 10, (INNER, SLICES[1].stack[-1]))
    stats = read(timing(slices=(*SLICES, lone))).stats
    assert stats[LINEAR][4] == {BACK: (1250, 1250, 2.5, 2.5), WALK: (10, 10, 1.0, 1.0)}


def test_a_function_is_named_by_the_line_it_begins_at_else_by_the_first_seen(read):
    stats = read(timing(sources=())).stats
    assert ("src/train.py", 7, "Agent.update") in stats
    assert MODULE in stats


def test_pstats_prints_it(read):
    stats = read(timing())
    stats.sort_stats("cumulative").print_stats()
    stats.print_callers()
    assert "Linear.forward" in stats.stream.getvalue()


def test_time_without_a_stack_is_the_programs(read):
    stats = read(timing(slices=(Slice(1.5, 3, ()),))).stats
    assert stats == {PROGRAM: (3, 3, 1.5, 1.5, {})}
