import random

import gymnasium as gym
import numpy as np
import pytest

from rldebug.probes.agents.automaton import Written
from rldebug.probes.play import play

LITTLE = {"steps": 1500, "seconds": 5.0, "episodes": 20}


class Corridor(gym.Env):
    """Five places; out on the right is worth 1."""

    made = closed = 0

    def __init__(self):
        type(self).made += 1
        self.observation_space = gym.spaces.Discrete(5)
        self.action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place, self.t = 0, 0
        return self.place, {}

    def optimal_action(self):
        return 1

    def step(self, action):
        self.place = max(self.place + 2 * int(action) - 1, 0)
        self.t += 1
        out = self.place == 4
        return self.place, float(out), out, not out and self.t >= 30, {}

    def close(self):
        type(self).closed += 1


@pytest.fixture(scope="module")
def corridor():
    return play(Corridor, name="corridor", agents=[Written(lambda obs: 1, "to the right")], **LITTLE)


def test_everybody_plays(corridor):
    names = [each.agent for each in corridor.plays]
    assert names == ["random", "to the right", "cheat", "always 0", "always 1", "cyclic", "sticky", "tabular"]
    assert not corridor.left_out


def test_what_known_players_reach_is_known(corridor):
    by_name = {each.agent: each for each in corridor.plays}
    assert by_name["cheat"].mean == by_name["to the right"].mean == by_name["always 1"].mean == 1.0
    assert by_name["cheat"].lengths == (4,) * 20
    assert by_name["always 0"].mean == 0.0
    assert by_name["always 0"].truncated == by_name["always 0"].episodes == 10
    assert by_name["tabular"].mean == 1.0
    assert by_name["random"].interval[0] <= by_name["random"].mean <= by_name["random"].interval[1]


def test_what_is_said_of_the_environment(corridor):
    assert corridor.action_space == "Discrete(2)"
    assert corridor.actions == 2
    assert corridor.best_constant.agent == "always 1"
    assert corridor.rewards.distinct == 2
    assert corridor.twins.repeatable
    assert corridor.unseen == 0
    assert corridor.alike < 0.01


def test_the_same_seed_gives_the_same_figures(corridor):
    again = play(Corridor, name="corridor", agents=[Written(lambda obs: 1, "to the right")], **LITTLE)
    assert [each.returns for each in again.plays] == [each.returns for each in corridor.plays]


def test_everything_that_was_made_is_closed(corridor):
    assert Corridor.made == Corridor.closed > 0


def test_the_global_generators_are_left_as_they_were():
    before = random.getstate(), np.random.get_state()[1].tolist()
    play(Corridor, name="corridor", **LITTLE)
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before


def test_what_is_printed_does_not_reach_the_report(capsys):
    class Loud(Corridor):
        def step(self, action):
            print("stepping")
            return super().step(action)

    play(Loud, name="loud", **LITTLE)
    assert capsys.readouterr().out == ""


def test_figures_go_into_json(corridor):
    import json

    data = json.loads(json.dumps(corridor.to_dict(), allow_nan=False))
    assert data["plays"][0]["agent"] == "random"
    assert data["plays"][0]["episodes"] == 20


def test_the_limit_is_that_of_the_wrapper():
    assert play(lambda: gym.wrappers.TimeLimit(Corridor(), 7), name="x", **LITTLE).time_limit == 7


class Broken(Corridor):
    def step(self, action):
        if self.t == 9:
            raise RuntimeError("the gripper is stuck")
        return super().step(action)


def no_reset():
    class Refuses(Corridor):
        def reset(self, **given):
            raise OSError("no licence")

    return Refuses()


def old_step():
    class Four(Corridor):
        def step(self, action):
            return super().step(action)[:4]

    return Four()


def not_a_number():
    class Words(Corridor):
        def step(self, action):
            return self.place, "much", False, False, {}

    return Words()


def leaves():
    raise SystemExit(3)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (Broken, "the gripper is stuck"),
        (no_reset, "no licence"),
        (old_step, "values to unpack"),
        (not_a_number, "could not convert"),
        (leaves, "SystemExit"),
    ],
    ids=["raises in step", "raises in reset", "four values", "reward in words", "leaves"],
)
def test_a_broken_environment_is_written_down(make, said):
    found = play(make, name="broken", **LITTLE)
    assert any(said in each for each in found.left_out)


def test_an_environment_without_an_end_is_given_up():
    class Endless(Corridor):
        def step(self, action):
            obs, reward, *_ = super().step(action)
            self.place = min(self.place, 3)
            return min(obs, 3), reward, False, False, {}

    found = play(Endless, name="endless", **LITTLE)
    assert found.episodes == 0
    assert found.play("random").longest == 1500
    assert found.to_dict()["plays"][0]["mean"] is None


def test_images_are_played_without_a_table():
    class Film(Corridor):
        def __init__(self):
            super().__init__()
            self.observation_space = gym.spaces.Box(0, 255, (64, 64, 3), np.uint8)

        def reset(self, **given):
            super().reset(**given)
            return np.zeros((64, 64, 3), np.uint8), {}

        def step(self, action):
            place, *rest = super().step(action)
            picture = np.zeros((64, 64, 3), np.uint8)
            picture[place * 12] = 255
            return picture, *rest

    found = play(Film, name="film", **LITTLE)
    assert found.play("tabular") is None
    assert any("12288 elements" in each for each in found.left_out)
    assert found.obs_changed > 0
    assert found.elements == ()
