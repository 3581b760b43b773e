from rldebug.evidence.env_play import Element, EnvPlay
from rldebug.rules.normalisation.observation_scales_apart import ObservationScalesApart
from tests.judge import fires, not_enough, quiet


def played(narrow, wide=1.0, distinct=500):
    elements = (Element("obs[0]", -1, 1, 0.0, wide, 500), Element("obs[1]", -1, 1, 0.0, narrow, distinct))
    return EnvPlay("x", elements=elements, obs_compared=900)


def test_fires_when_one_is_far_narrower():
    assert "obs[1] by 1e-05" in fires(ObservationScalesApart(), played(1e-5)).seen


def test_quiet_when_they_differ_by_hundreds():
    quiet(ObservationScalesApart(), played(1e-3))


def test_quiet_when_the_narrow_one_is_a_flag():
    quiet(ObservationScalesApart(), played(1e-5, distinct=2))


def test_quiet_when_the_wide_one_has_a_rule_of_its_own():
    quiet(ObservationScalesApart(), played(1.0, wide=1e5))


def test_declines_on_a_few_steps():
    not_enough(ObservationScalesApart(), EnvPlay("x", obs_compared=5))
