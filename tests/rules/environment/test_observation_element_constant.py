from rldebug.evidence.env_play import Element, EnvPlay
from rldebug.rules.environment.observation_element_constant import ObservationElementConstant
from tests.judge import fires, not_enough, quiet


def played(distinct, more=2):
    varying = [Element(f"obs[{place}]", -1.0, 1.0, 0.0, 0.5, 500) for place in range(more)]
    return EnvPlay("x", elements=(*varying, Element("obs[9]", 0.0, 0.0, 0.0, 0.0, distinct)), obs_compared=3000)


def test_fires_when_one_of_a_few_never_changes():
    assert "obs[9] = 0" in fires(ObservationElementConstant(), played(1)).seen


def test_quiet_when_it_changed_once():
    quiet(ObservationElementConstant(), played(2))


def test_quiet_among_very_many():
    quiet(ObservationElementConstant(), played(1, more=40))


def test_declines_on_a_few_steps():
    not_enough(ObservationElementConstant(), EnvPlay("x", obs_compared=5))
