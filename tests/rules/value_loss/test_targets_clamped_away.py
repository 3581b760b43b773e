from rldebug.rules.value_loss.targets_clamped_away import TargetsClampedAway
from tests.programs.formulas import found
from tests.programs.value_learners import relabelled


def test_fires_where_targets_are_clamped_to_the_wrong_side():
    (finding,) = found(TargetsClampedAway(), relabelled("clamped"))
    assert finding.component == "value-loss"
    assert finding.seen.startswith("exactly 0 in")


def test_quiet_where_they_follow_what_was_paid():
    assert not found(TargetsClampedAway(), relabelled())
