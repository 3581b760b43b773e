from rldebug.evidence.env_play import Element, EnvPlay
from rldebug.rules.normalisation.observation_too_large import ObservationTooLarge
from tests.judge import fires, not_enough, quiet


def played(size):
    return EnvPlay("x", elements=(Element("obs[0]", -size, size, 0.0, size, 500),), obs_compared=900)


def test_fires_in_the_thousands_as_a_note():
    found = fires(ObservationTooLarge(), played(5e3))
    assert found.severity == "note"
    assert "obs[0] -5000 … 5000" in found.seen


def test_fires_in_the_millions_as_a_warning():
    assert fires(ObservationTooLarge(), played(1e6)).severity == "warning"


def test_quiet_in_the_hundreds():
    quiet(ObservationTooLarge(), played(900.0))


def test_declines_on_pixels():
    not_enough(ObservationTooLarge(), EnvPlay("x", obs_compared=900))
