from rldebug.rules.action_sampling.log_prob_of_stretched_action import LogProbOfStretchedAction
from tests.rules.action_sampling.test_squashing_not_corrected import soft_actor_critic
from tests.watched import findings

CODE = LogProbOfStretchedAction.code


def learner(**how):
    return lambda: soft_actor_critic("corrected", elements=2, learned=True, bound=2.0, **how)


def test_fires_where_the_scale_is_in_the_log_prob_alone():
    (finding,) = findings(learner(shifted=True), CODE)
    assert "-1.39" in finding.seen


def test_quiet_where_it_is_left_out():
    assert not findings(learner(), CODE)


def test_quiet_where_the_temperature_is_fixed():
    assert not findings(lambda: soft_actor_critic("corrected", elements=2, bound=2.0, shifted=True), CODE)
