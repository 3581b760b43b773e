from rldebug.evidence.env_contract import EnvContract, Outside
from rldebug.rules.environment.observation_out_of_bounds import ObservationOutOfBounds
from tests.judge import fires, quiet


def outside(worst, times, discrete=False):
    return EnvContract("e", outside=(Outside("obs[2]", -1.0, 1.0, worst, times, 1000, discrete),))


def test_fires_when_far_out_and_often():
    found = fires(ObservationOutOfBounds(), outside(7.0, 300))
    assert found.severity == "warning"
    assert "7 at the worst" in found.seen


def test_fires_as_an_error_on_a_number_that_does_not_exist():
    assert fires(ObservationOutOfBounds(), outside(2.0, 1, discrete=True)).severity == "error"


def test_fires_as_a_note_when_seldom():
    assert fires(ObservationOutOfBounds(), outside(7.0, 3)).severity == "note"


def test_fires_as_a_note_when_hardly_out():
    assert fires(ObservationOutOfBounds(), outside(1.05, 300)).severity == "note"


def test_quiet_within_the_bounds():
    quiet(ObservationOutOfBounds(), EnvContract("e", steps=4000))
