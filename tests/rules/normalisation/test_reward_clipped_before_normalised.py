from rldebug.evidence.env_contract import EnvContract, Layer
from rldebug.rules.normalisation.reward_clipped_before_normalised import RewardClippedBeforeNormalised
from tests.judge import fires, not_enough, quiet


def stack(*roles):
    """From the outside in."""
    return EnvContract("e", layers=tuple(Layer(f"L{i}", roles=frozenset(each)) for i, each in enumerate(roles)))


def test_fires_when_the_clip_is_inside():
    assert (
        "L1, which clips"
        in fires(RewardClippedBeforeNormalised(), stack(["normalises rewards"], ["clips rewards"], [])).seen
    )


def test_quiet_when_the_clip_is_outside():
    quiet(RewardClippedBeforeNormalised(), stack(["clips rewards"], ["normalises rewards"], []))


def test_declines_without_layers():
    not_enough(RewardClippedBeforeNormalised(), EnvContract("e"))
