from rldebug.rules.value_loss.target_carries_gradient import TargetCarriesGradient
from tests.programs.targets import found, q_learner, seen
from tests.watched import watched


def test_fires_where_the_target_is_not_detached():
    (finding,) = found(TargetCarriesGradient(), watched(lambda: q_learner("attached"), overhead_budget=10.0)[1])
    assert finding.where.line is not None


def test_quiet_where_it_is():
    assert not found(TargetCarriesGradient(), seen("q_learner"))
    assert not found(TargetCarriesGradient(), seen("ddpg"))
