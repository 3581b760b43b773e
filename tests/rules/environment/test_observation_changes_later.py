from rldebug.evidence.env_contract import EnvContract, Misfit
from rldebug.rules.environment.observation_changes_later import ObservationChangesLater
from tests.judge import fires, quiet


def test_fires_when_a_kept_observation_changed():
    changed = Misfit("obs", "obs[0] was 1, and 2 one step later", "unchanged", "step()", 0, 480, 500)
    assert "was 1, and 2" in fires(ObservationChangesLater(), EnvContract("e", aliased=changed)).seen


def test_quiet_when_kept_observations_stay():
    quiet(ObservationChangesLater(), EnvContract("e", steps=4000))
