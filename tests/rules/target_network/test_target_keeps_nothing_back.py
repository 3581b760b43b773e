from rldebug.rules.target_network.target_keeps_nothing_back import TargetKeepsNothingBack
from tests.programs.targets import found, q_learner, seen
from tests.watched import watched


def test_fires_where_weights_are_copied_at_every_update():
    assert found(TargetKeepsNothingBack(), watched(lambda: q_learner("every update"), overhead_budget=10.0)[1])


def test_fires_where_the_weights_of_the_average_are_swapped():
    (finding,) = found(TargetKeepsNothingBack(), seen("q_learner", "tau 0.95"))
    assert "0.95" in finding.seen


def test_quiet_where_it_lags():
    assert not found(TargetKeepsNothingBack(), seen("q_learner"))
    assert not found(TargetKeepsNothingBack(), seen("q_learner", "soft"))
    assert not found(TargetKeepsNothingBack(), seen("ddpg"))


def test_quiet_where_a_mixture_made_by_hand_is_loaded_at_every_update():
    assert not found(TargetKeepsNothingBack(), seen("q_learner", "mixture loaded"))


def test_quiet_where_it_is_copied_in_place_at_times():
    """Some audits are of four updates and hold one copy; most hold none."""
    script = seen("q_learner", "in place at times", steps=240)
    assert sum(event.get("tau") is not None for _, event in script.events("copy")) >= TargetKeepsNothingBack().taus
    assert not found(TargetKeepsNothingBack(), script)
