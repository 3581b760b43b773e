import math

import gymnasium as gym
import numpy as np

from rldebug.evidence.env_play import Play
from rldebug.probes import play_facts as facts
from rldebug.probes.flat import Flat
from rldebug.probes.play_facts import Tape

LENGTH = 40


def tape(before, rewards=None, actions=None, after=None):
    """Episodes of LENGTH steps."""
    steps = len(before)
    return Tape(
        before=list(before),
        after=list(before if after is None else after),
        actions=list(np.zeros((steps, 1)) if actions is None else actions),
        rewards=[0.0] * steps if rewards is None else list(rewards),
        time=[step % LENGTH for step in range(steps)],
        episode=[step // LENGTH for step in range(steps)],
        terminated=[False] * steps,
    )


def noise(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def test_rewards_in_figures():
    found = facts.rewards_of(np.array([0.0, 0.0, -2.0, 1.0, 500.0]), np.array([False, False, False, False, True]))
    assert (found.low, found.high, found.zeros, found.distinct, found.middle) == (-2, 500, 2, 4, 2)
    assert found.largest == (-2.0, 1.0, 0.0, 0.0)
    assert sum(found.counts) == 5


def test_rewards_that_are_not_finite_give_no_figures():
    assert facts.rewards_of(np.array([1.0, np.nan]), np.array([False, False])).steps == 0


def test_elements_and_their_twins():
    rows = noise(300, 3)
    rows[:, 2] = rows[:, 0]
    found = facts.elements_of(rows, Flat(gym.spaces.Box(-9, 9, (3,))))
    assert [each.twin for each in found] == ["", "", "obs[0]"]
    assert abs(found[1].std - rows[:, 1].std()) < 1e-12


def test_pixels_and_choices_are_no_elements():
    space = gym.spaces.Tuple([gym.spaces.Discrete(3), gym.spaces.Box(0, 255, (2,), np.uint8)])
    assert facts.elements_of(noise(50, 3), Flat(space)) == ()


def test_time_is_told_by_a_clock_and_not_by_noise():
    clock = np.tile(np.arange(LENGTH), 20)[:, None] / LENGTH
    assert facts.time_told([tape(np.hstack([noise(800, 2), clock]))]) > 0.9
    assert facts.time_told([tape(np.hstack([noise(800, 2), np.cos(6 * clock)]))]) > 0.5  # not a straight line
    assert facts.time_told([tape(noise(800, 3))]) < 0.1


def test_time_is_unknown_after_one_episode():
    assert math.isnan(facts.time_told([tape(noise(LENGTH, 2))]))


def test_the_reward_is_told_by_what_it_is_made_of_and_not_by_something_else():
    before, hidden = noise(2000, 2), noise(2000, seed=1)
    actions = np.sign(noise(2000, 1, seed=2))
    seen = tape(before, before[:, 0] ** 2, actions)
    assert facts.reward_told([seen]) > 0.5
    assert facts.reward_told([tape(before, actions[:, 0] * hidden, actions)]) < 0.02


def test_the_reward_is_not_judged_where_it_is_rare_or_much_is_seen():
    rare = np.zeros(2000)
    rare[::50] = 1.0
    assert math.isnan(facts.reward_told([tape(noise(2000, 2), rare)]))
    assert math.isnan(facts.reward_told([tape(noise(2000, 60), noise(2000))]))


def series(ahead):
    """Two moves in a window; paid is action × the move of the day after the window, or of its last day."""
    moves = noise(1003)
    window = np.stack([moves[:1000], moves[1:1001]], axis=1)
    actions = np.sign(noise(1000, 1, seed=5))
    return tape(window, actions[:, 0] * (moves[1:1001] if ahead else moves[2:1002]), actions)


def test_a_series_that_shows_the_next_reward():
    flat = Flat(gym.spaces.Box(-9, 9, (2,)))
    (found,) = facts.foretold([series(ahead=True)], flat, np.array([True, True]), discrete=True)
    assert found.where == "obs[1]"
    assert found.exogenous
    assert [(action, round(ratio, 6)) for action, ratio in found.ratios] == [("-1", -1), ("1", 1)]
    (boxed,) = facts.foretold([series(ahead=True)], flat, np.array([True, True]), discrete=False)
    assert boxed.ratios[0][0] == "× action"


def test_a_series_that_does_not():
    assert facts.foretold([series(ahead=False)], Flat(gym.spaces.Box(-9, 9, (2,))), None, discrete=True) == ()


def test_unseen_is_the_share_of_what_was_met_once():
    rows = np.array([[0.0], [0.0], [1.0], [1.0], [2.0]])
    assert facts.unseen_of([tape(rows)], Flat(gym.spaces.Discrete(3))) == 0.2


def test_alike_tells_equal_players_from_different_ones():
    def players(shift):
        return [Play("x", "constant", tuple(noise(20, seed=seed) + seed * shift)) for seed in range(4)]

    assert facts.alike_of(players(0.0)) > 0.05
    assert facts.alike_of(players(1.0)) < 0.01
    assert math.isnan(facts.alike_of(players(0.0)[:2]))


def test_alike_is_an_honest_p_value():
    """Of players that are equal, one in ten comes out below 0.1."""
    values = [
        facts.alike_of(
            [Play("x", "constant", tuple(noise(8, seed=100 * trial + each))) for each in range(4)], resamples=200
        )
        for trial in range(200)
    ]
    assert 0.04 < np.mean(np.array(values) < 0.1) < 0.17
