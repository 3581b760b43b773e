from rldebug.rules.value_loss.twin_critics_identical import TwinCriticsIdentical
from tests.programs.targets import ddpg, found, seen
from tests.watched import watched


def test_fires_where_one_is_a_copy_of_the_other():
    (finding,) = found(TwinCriticsIdentical(), watched(lambda: ddpg("twins"), overhead_budget=10.0)[1])
    assert finding.component == "value-loss"


def test_quiet_where_they_begin_apart():
    assert not found(TwinCriticsIdentical(), seen("ddpg"))
