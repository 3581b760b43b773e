from rldebug.rules.buffer.window_crosses_episodes import WindowCrossesEpisodes
from tests.judge import fires, quiet
from tests.rules.ladders import ladder, values


def test_fires_without_a_lambda():
    found = fires(
        WindowCrossesEpisodes(), ladder(values("leaking-return", [0.7, -0.7, 1.0], matched=["return-leaks"]), lam=None)
    )
    assert "x+ 0.70" in found.seen


def test_quiet_with_a_lambda():
    quiet(WindowCrossesEpisodes(), ladder(values("leaking-return", [0.7, -0.7, 1.0], matched=["return-leaks"])))


def test_fires_where_an_episode_of_one_step_has_three_rewards():
    found = fires(WindowCrossesEpisodes(), ladder(values("constant-reward", [2.71]), lam=None, n_step=3))
    assert "here 2.71" in found.seen


def test_quiet_where_the_sum_is_another():
    quiet(WindowCrossesEpisodes(), ladder(values("constant-reward", [2.0]), lam=None, n_step=3))
