import torch

from rldebug.rules.target_network.target_noise_one_sided import TargetNoiseOneSided
from tests.judge import fires, not_enough, quiet
from tests.programs.actor_critic import script
from tests.rules.target_network.test_target_action_beyond_bounds import smoothed
from tests.watched import findings

rule = TargetNoiseOneSided()


def test_fires_on_uniform_noise_from_0_to_1():
    assert "positive" in fires(rule, script(smooth=lambda random, shape: 0.1 * random.random(shape), audits=4)).seen


def test_fires_in_a_program():
    assert findings(lambda: smoothed(clamp=True, noise=torch.rand, bias=0.0), rule.code)


def test_quiet_on_noise_to_both_sides():
    quiet(rule, script(smooth=lambda random, shape: 0.1 * random.normal(size=shape), audits=4))


def test_quiet_where_the_difference_is_decided_by_the_policy():
    quiet(rule, script(smooth=lambda random, shape: 0.1 + 0.0 * random.random(shape), audits=4))


def test_quiet_where_bounds_cut_the_noise():
    assert not findings(lambda: smoothed(clamp=True), rule.code)


def test_declines_where_there_is_no_noise():
    not_enough(rule, script(audits=4))
