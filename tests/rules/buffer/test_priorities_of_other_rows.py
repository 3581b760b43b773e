from rldebug.evidence.script import Script
from rldebug.rules.buffer.priorities_of_other_rows import PrioritiesOfOtherRows
from tests.judge import fires, not_enough, quiet
from tests.programs.prioritised import replayed
from tests.programs.weighted import distributional
from tests.watched import watched

rule = PrioritiesOfOtherRows()


def test_fires_where_they_are_written_in_another_order():
    finding = fires(rule, replayed(written="sorted"))
    assert finding.component == "buffer"
    assert "drawn again soon" in finding.seen


def test_fires_where_negative_errors_are_cut_off():
    assert "large errors have it" in fires(rule, replayed(written="positive")).seen


def test_quiet_where_each_row_gets_its_own():
    quiet(rule, replayed())


def test_declines_where_nothing_is_weighted():
    not_enough(rule, Script())


def test_fires_where_divergences_are_written_in_another_order():
    script = watched(lambda: distributional("divergence", few=False, order="sorted", steps=420), overhead_budget=10.0)[
        1
    ]
    fires(rule, script)


def test_quiet_where_priorities_are_divergences_of_distributions():
    script = watched(lambda: distributional("divergence", few=False, steps=420), overhead_budget=10.0)[1]
    quiet(rule, script)
