from rldebug.evidence.env_play import Element, EnvPlay
from rldebug.rules.environment.observation_element_duplicated import ObservationElementDuplicated
from tests.judge import fires, not_enough, quiet


def played(twin, distinct=500):
    first = Element("obs[1]", -1.0, 1.0, 0.0, 0.5, distinct)
    return EnvPlay("x", elements=(first, Element("obs[3]", -1.0, 1.0, 0.0, 0.5, distinct, twin)), obs_compared=900)


def test_fires_when_two_elements_are_always_equal():
    assert "obs[1] = obs[3]" in fires(ObservationElementDuplicated(), played("obs[1]")).seen


def test_quiet_when_they_differ():
    quiet(ObservationElementDuplicated(), played(""))


def test_quiet_on_flags_that_coincide():
    quiet(ObservationElementDuplicated(), played("obs[1]", distinct=2))


def test_quiet_among_very_many():
    many = tuple(Element(f"obs[{place}]", -1.0, 1.0, 0.0, 0.5, 500, "obs[0]") for place in range(1, 200))
    quiet(ObservationElementDuplicated(), EnvPlay("x", elements=many, obs_compared=900))


def test_declines_on_a_few_steps():
    not_enough(ObservationElementDuplicated(), EnvPlay("x", obs_compared=5))
