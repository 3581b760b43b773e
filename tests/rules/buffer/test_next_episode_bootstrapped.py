from rldebug.rules.buffer.next_episode_bootstrapped import NextEpisodeBootstrapped
from tests.judge import fires, quiet
from tests.rules.ladders import ladder, passed, values


def test_fires_where_cut_off_states_have_the_values_of_others():
    found = fires(
        NextEpisodeBootstrapped(),
        ladder(
            passed("truncated-episode"),
            values("unequal-episodes", [-0.3, -0.2, 1.0, -3.0], matched=["reset-obs-bootstrapped"]),
        ),
    )
    assert "far -0.30" in found.seen


def test_quiet_where_it_was_not_run():
    quiet(NextEpisodeBootstrapped(), ladder(values("truncated-episode", [0.3])))
