from rldebug.rules.buffer.new_rows_drawn_last import NewRowsDrawnLast
from tests.judge import fires, quiet
from tests.programs.prioritised import replayed

rule = NewRowsDrawnLast()


def test_fires_where_new_rows_are_stored_with_less_than_most_have():
    assert "stands for an error of 0.2" in fires(rule, replayed(new=0.2)).seen


def test_quiet_where_they_have_the_largest_priority_so_far():
    quiet(rule, replayed())
