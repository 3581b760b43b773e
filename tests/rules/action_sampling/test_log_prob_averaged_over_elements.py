from rldebug.rules.action_sampling.log_prob_averaged_over_elements import LogProbAveragedOverElements
from tests.judge import fires, quiet
from tests.programs.actor_critic import script
from tests.rules.action_sampling.test_squashing_not_corrected import soft_actor_critic
from tests.watched import findings

rule = LogProbAveragedOverElements()


def test_fires_on_the_mean_in_the_targets():
    (finding,) = findings(lambda: soft_actor_critic("corrected", elements=2, reduce="mean", learned=True), rule.code)
    assert "targets" in finding.seen


def test_fires_on_the_mean_in_the_loss_of_the_temperature():
    finding = fires(rule, script(temperature="right", averaged=True, updates=8))
    assert "temperature" in finding.seen


def test_quiet_on_the_sum():
    assert not findings(lambda: soft_actor_critic("corrected", elements=2, learned=True), rule.code)
    quiet(rule, script(temperature="right", updates=8))


def test_quiet_where_the_loss_of_the_temperature_is_halved():
    quiet(rule, script(temperature="right", halved=True, updates=8))
