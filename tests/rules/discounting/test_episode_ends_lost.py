from rldebug.evidence.run import Run
from rldebug.rules.discounting.episode_ends_lost import EpisodeEndsLost
from tests.judge import fires, not_enough, quiet

N = 10


def run(flagged=0.0, cut=0.0, terminated=3.0, truncated=0.0, played=64.0):
    flags = {} if cut is None else {"rollout/truncated": [cut] * N}
    return Run.from_series(
        {
            "rollout/steps": [64.0] * N,
            "rollout/terminated": [flagged] * N,
            "episode/terminated": [terminated] * N,
            "episode/truncated": [truncated] * N,
            "episode/steps": [played] * N,
            **flags,
        }
    )


def test_fires_when_no_ending_is_flagged():
    assert "about 30" in fires(EpisodeEndsLost(), run()).expected


def test_fires_when_truncations_are_lost():
    fires(EpisodeEndsLost(), run(terminated=0.0, truncated=3.0))


def test_quiet_when_endings_are_flagged():
    quiet(EpisodeEndsLost(), run(flagged=3 / 64))


def test_quiet_when_truncations_are_flagged():
    quiet(EpisodeEndsLost(), run(terminated=0.0, truncated=3.0, cut=3 / 64))


def test_declines_when_only_truncations_happen_and_those_are_not_handed_over():
    not_enough(EpisodeEndsLost(), run(terminated=0.0, truncated=3.0, cut=None))


def test_declines_when_few_endings_fall_into_the_rollouts_looked_at():
    not_enough(EpisodeEndsLost(), run(played=640.0))
