from rldebug.rules.action_sampling.log_prob_averaged_over_elements import LogProbAveragedOverElements
from tests.judge import fires, quiet
from tests.programs.actor_critic import script
from tests.programs.gaussian_learners import averaged, beta, learn
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


def test_fires_on_the_mean_in_a_ratio():
    (finding,) = findings(lambda: learn(averaged, ratio=True), rule.code)
    assert finding.severity == "error"
    assert "ratio" in finding.seen


def test_fires_on_the_mean_beside_an_entropy():
    (finding,) = findings(lambda: learn(averaged), rule.code)
    assert finding.severity == "warning"


def test_fires_as_a_note_where_nothing_stands_beside_it():
    (finding,) = findings(lambda: learn(averaged, apart=True), rule.code)
    assert finding.severity == "note"


def test_quiet_on_the_sum_in_policy_losses():
    for ratio in (False, True):
        assert not findings(lambda ratio=ratio: learn(ratio=ratio), rule.code)


def test_fires_on_the_mean_of_another_distribution():
    (finding,) = findings(lambda: learn(averaged, ratio=True, make=beta), rule.code)
    assert finding.severity == "error"
    assert "ratio" in finding.seen
    (finding,) = findings(lambda: learn(averaged, make=beta), rule.code)
    assert finding.severity == "warning"


def test_quiet_on_the_sum_of_another_distribution():
    for ratio in (False, True):
        assert not findings(lambda ratio=ratio: learn(ratio=ratio, make=beta), rule.code)


def test_quiet_where_the_ratio_is_of_a_mean_over_steps():
    assert not findings(lambda: learn(over_steps, ratio=True), rule.code)


def over_steps(logp):
    """One ratio for a stretch of steps, by the mean of their log-probs: as for whole sequences."""
    each = logp.sum(-1)
    return each if each.dim() == 0 else each.reshape(-1, 4).mean(-1).repeat_interleave(4)
