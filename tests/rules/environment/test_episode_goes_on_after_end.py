from rldebug.evidence.env_contract import AfterEnd, EnvContract
from rldebug.rules.environment.episode_goes_on_after_end import EpisodeGoesOnAfterEnd
from tests.judge import fires, not_enough, quiet


def test_fires_when_every_end_is_stepped_over_with_a_reward():
    fires(EpisodeGoesOnAfterEnd(), EnvContract("e", after_end=AfterEnd(3, went_on=3, rewarded=3)))


def test_quiet_when_it_raises_or_stays_over():
    quiet(EpisodeGoesOnAfterEnd(), EnvContract("e", after_end=AfterEnd(3, raised=3)))
    quiet(EpisodeGoesOnAfterEnd(), EnvContract("e", after_end=AfterEnd(3)))


def test_quiet_when_it_goes_on_now_and_then():
    quiet(EpisodeGoesOnAfterEnd(), EnvContract("e", after_end=AfterEnd(3, went_on=2, rewarded=2)))


def test_declines_when_nothing_terminated():
    not_enough(EpisodeGoesOnAfterEnd(), EnvContract("e"))
