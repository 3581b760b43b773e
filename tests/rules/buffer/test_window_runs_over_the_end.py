from rldebug.rules.buffer.window_runs_over_the_end import WindowRunsOverTheEnd
from tests.programs.formulas import found
from tests.programs.value_learners import learned


def test_fires_where_only_true_ends_empty_the_window():
    (finding,) = found(WindowRunsOverTheEnd(), learned("crosses", n=3))
    assert finding.component == "buffer"
    assert "within 3 steps" in finding.seen


def test_quiet_where_time_limits_empty_it_too():
    assert not found(WindowRunsOverTheEnd(), learned(n=3))
