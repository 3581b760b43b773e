from rldebug.evidence.env_contract import EnvContract, Layer
from rldebug.rules.environment.return_of_altered_reward import ReturnOfAlteredReward
from tests.judge import fires, not_enough, quiet


def stack(*roles):
    """From the outside in."""
    return EnvContract("e", layers=tuple(Layer(f"L{i}", roles=frozenset(each)) for i, each in enumerate(roles)))


def test_fires_when_the_recorder_is_outside():
    found = fires(ReturnOfAlteredReward(), stack(["records returns"], ["clips rewards"], []))
    assert "L0 stands outside of L1" in found.seen


def test_quiet_when_the_recorder_is_inside():
    quiet(ReturnOfAlteredReward(), stack(["clips rewards"], ["records returns"], []))


def test_quiet_when_another_records_inside():
    quiet(ReturnOfAlteredReward(), stack(["records returns"], ["clips rewards"], ["records returns"], []))


def test_declines_without_layers():
    not_enough(ReturnOfAlteredReward(), EnvContract("e"))
