from rldebug.evidence.env_contract import EnvContract, Misfit
from rldebug.rules.environment.observation_not_in_space import ObservationNotInSpace
from tests.judge import fires, quiet

SHAPE = Misfit("obs", "shape (5,)", "shape (4,)", "step()", 9, 12, 400)
LIST = Misfit("obs", "a list", "an array of shape (4,)", "reset()", 0, 400, 400, lenient=True)


def test_fires_on_another_shape_before_a_mere_list():
    found = fires(ObservationNotInSpace(), EnvContract("e", misfits=(LIST, SHAPE)))
    assert found.severity == "error"
    assert "shape (5,)" in found.seen


def test_fires_as_a_warning_on_a_list():
    assert fires(ObservationNotInSpace(), EnvContract("e", misfits=(LIST,))).severity == "warning"


def test_quiet_when_all_observations_fit():
    quiet(ObservationNotInSpace(), EnvContract("e", steps=4000))
