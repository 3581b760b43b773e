from rldebug.evidence.env_contract import EnvContract, Misfit
from rldebug.rules.action_sampling.action_changed_in_place import ActionChangedInPlace
from tests.judge import fires, quiet


def test_fires_when_the_action_differs_afterwards():
    changed = Misfit("action", "action[0] was 1, and 0.5 after the step", "unchanged", "step()", 0, 900, 900)
    assert "was 1, and 0.5" in fires(ActionChangedInPlace(), EnvContract("e", mutated=changed)).seen


def test_quiet_when_it_is_the_same():
    quiet(ActionChangedInPlace(), EnvContract("e", steps=4000))
