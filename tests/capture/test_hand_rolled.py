"""Classes of no library: those that are used like an environment are told, all others are left as they were."""

import dataclasses
import sys
import weakref
from collections import namedtuple

import gymnasium as gym
import numpy as np
import pytest
import torch

from tests.capture.env_stub import watched


class Early:
    """Defined before anything is hooked."""

    def reset(self):
        self.t = 0
        return np.zeros(2)

    def step(self, action):
        self.t += 1
        return np.full(2, self.t), 1.0, self.t >= 2, {}


def test_plain_class_is_told_with_its_first_step():
    with watched() as log:
        env = Early()
        env.reset()
        assert log.whats() == ""  # might be anything yet
        env.step(1)
        env.step(0)
        env.reset()
    assert log.whats() == "new reset step step reset"
    assert (log.only("new").kind, log.only("new").facts["api"]) == ("hand-rolled", "4-tuple")
    assert log.only("new").facts["defined"][0].endswith("test_hand_rolled.py")
    assert [each.terminated for each in log.all("step")] == [False, True]
    np.testing.assert_array_equal(log.all("reset")[0].obs, [0, 0])
    np.testing.assert_array_equal(log.all("step")[1].obs, [2, 2])


def test_a_flag_that_says_that_the_episode_goes_on():
    with watched() as log:

        class Open:
            def reset(self):
                self.t = 0
                return np.zeros(2)

            def step(self, action):
                self.t += 1
                return np.full(2, self.t), 1.0, self.t < 3

        env = Open()
        for _ in range(2):
            env.reset()
            going = True
            while going:
                _, _, going = env.step(0)
    # The first step is what the episode is taken to begin with: nobody knew what its flag meant.
    assert log.whats() == "new reset step step reset step step step"
    assert [each.terminated for each in log.all("step")] == [False, True, False, False, True]
    np.testing.assert_array_equal(log.all("reset")[0].obs, [1, 1])


def test_episodes_of_one_step():
    with watched() as log:

        class Bandit:
            def reset(self):
                return np.zeros(2)

            def step(self, action):
                return np.zeros(2), float(action), True

        env = Bandit()
        for _ in range(3):
            env.reset()
            env.step(1)
    assert [each.terminated for each in log.all("step")] == [True, True]


def results():
    obs = np.arange(3.0)
    fields = namedtuple("fields", "state reward done")
    time_step = namedtuple("time_step", "step_type reward discount observation")
    record = dataclasses.make_dataclass("record", ["obs", "reward", "terminated", "truncated"])
    return {
        "five": (obs, 2, True, False, {}),
        "four": (obs, 2.0, True, {}),
        "four with flags for numbers": (obs, np.float32(2), 1, {}),
        "three": (obs, 2.0, np.True_),
        "three, reward first": (2.0, obs, True),
        "four, two flags": (obs, 2.0, True, False),
        "a list": [obs, 2.0, True, {}],
        "a mask behind the observation": (obs, np.array([True, False]), 2.0, True),
        "a list of what is allowed": (obs, [True, False], 2.0, True, {}),
        "the state of all agents": (obs, np.zeros(8), 2.0, np.True_, False),
        "fields": fields(obs, 2.0, True),
        "TimeStep": time_step(2, 2.0, 0.0, obs),
        "a dataclass": record(obs, 2.0, True, False),
        "a dict": {"obs": obs, "reward": 2.0, "done": True},
        "tensors": (torch.arange(3.0), torch.tensor(2.0), torch.tensor(True), {}),
    }


@pytest.mark.parametrize("name", results())
def test_forms_of_a_step(name):
    with watched() as log:

        class Env:
            def reset(self):
                return 0

            def step(self, action):
                return results()[name]

        env = Env()
        for _ in range(2):  # begun anew, so that its flag says that it was over
            env.reset()
            env.step(0)
    step = log.all("step")[-1]
    np.testing.assert_array_equal(step.obs, [0, 1, 2])
    assert (step.reward, step.terminated, step.truncated) == (2.0, True, False)
    assert isinstance(step.obs, np.ndarray)


@pytest.mark.parametrize(
    "result",
    [
        None,
        1.0,
        (np.arange(3.0), 0.5),
        (3, 0.25, -1.7),  # action, value, log-prob
        (np.arange(3.0), 0.5, -1.7, np.zeros(2)),  # action, value, log-prob, state
        ([1], [2], [3], [4], [5]),
        ("a", "b", True),
        (np.arange(3.0), {"x": 1.0}, True),
        (None, 1.0, True, {}),
        {"loss": 1.0},
    ],
)
def test_what_is_no_step(result):
    with watched() as log:

        class Agent:
            def reset(self):
                return np.zeros(2)

            def step(self, obs):
                return result

        agent = Agent()
        agent.reset()
        assert Agent.step.__wrapped__
        assert agent.step(0) is result
        assert not hasattr(Agent.step, "__wrapped__")  # left alone from here on
        agent.reset()
    assert log.whats() == ""


def test_classes_that_cannot_be_environments():
    with watched() as log:

        class Schedule:
            def reset(self):
                return 0

            def step(self):
                return 0, 1.0, True

        class Learner:
            def reset(self):
                return 0

            def step(self, state, action, reward, next_state, done):
                return 0, 1.0, True

        class Net(torch.nn.Module):
            def reset(self):
                return 0

            def step(self, obs):
                return 0, 1.0, True

        class Lazy:
            def reset(self):
                return 0

            async def step(self, action):
                return 0, 1.0, True

        class Half:
            def step(self, action):
                return 0, 1.0, True

        for cls in (Schedule, Learner, Net, Lazy, Half):
            assert not hasattr(cls.step, "__wrapped__"), cls
        Net().step(0)
    assert log.whats() == ""


def test_library_classes_are_left_alone(tmp_path, monkeypatch):
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "their_envs.py").write_text(
        "class Env:\n    def reset(self): return 0\n    def step(self, action): return 0, 1.0, True\n"
    )
    monkeypatch.syspath_prepend(str(folder))
    with watched() as log:
        import their_envs

        their_envs.Env().step(0)

        class Mine(their_envs.Env):
            def step(self, action):
                return super().step(action)

        Mine().step(0)
    assert log.whats() == "new step"
    del sys.modules["their_envs"]


def test_base_with_one_and_subclass_with_the_other():
    with watched() as log:

        class Base:
            def step(self, action):
                return 1, 1.0, False, {}

        class Env(Base):
            def reset(self):
                return 0

        env = Env()
        env.reset()
        env.step(0)
    assert log.whats() == "new reset step"


class Inner(gym.Env):
    def reset(self, *, seed=None, options=None):
        return np.zeros(1), {}

    def step(self, action):
        return np.ones(1), 1.0, False, False, {}


def test_own_wrapper_around_a_gymnasium_environment():
    with watched() as log:

        class Repeat:
            def __init__(self):
                self.inner = Inner()

            def reset(self):
                return self.inner.reset()[0] + 5

            def step(self, action):
                for _ in range(4):
                    obs, reward, done, _, _ = self.inner.step(action)
                return obs + 5, reward * 4, done

        env = Repeat()
        env.reset()
        env.step(0)
        env.step(0)
    assert log.whats() == "new reset step step"
    assert log.only("new").kind == "hand-rolled"
    assert [each.reward for each in log.all("step")] == [4.0, 4.0]
    assert log.only("reset").obs == 5


@pytest.mark.parametrize("steps", [3, 500])
def test_trainer_does_not_silence_its_environment(steps):
    with watched() as log:

        class Trainer:
            def __init__(self):
                self.env = Inner()

            def reset(self):
                return self.env.reset()

            def step(self, epoch):
                for _ in range(steps):
                    self.env.step(0)

        trainer = Trainer()
        trainer.reset()
        trainer.step(0)
        trainer.step(1)
    assert [each.what for each in log.said[:3]] == ["new", "reset", "step"]
    assert len(log.all("step")) == 2 * steps
    assert log.only("new").kind == "gymnasium"


def test_reset_kept_back_is_told_when_the_inner_one_is_used():
    with watched() as log:

        class Game:
            def __init__(self):
                self.env = Inner()

            def reset(self):
                return self.env.reset()

            def step(self, action):
                raise NotImplementedError

        game = Game()
        game.reset()
        game.env.step(0)
    assert log.whats() == "new reset step"


def test_many_lanes():
    with watched() as log:

        class Batch:
            def reset(self):
                return torch.zeros(4, 3)

            def step(self, action):
                done = torch.tensor([False, True, False, False])
                return torch.ones(4, 3), torch.arange(4.0).unsqueeze(1), done, {}

        env = Batch()
        env.reset()
        env.step(torch.tensor([0, 1, 2, 3]))
        env.step(7)  # not one for each
    assert (log.only("new").lanes, log.only("reset").obs.shape) == (4, (4, 3))
    assert log.only("new").autoreset == "same-step"
    first, second = log.all("step")
    np.testing.assert_array_equal(first.action, [0, 1, 2, 3])
    assert second.action == [None] * 4
    np.testing.assert_array_equal(first.reward, [0, 1, 2, 3])
    np.testing.assert_array_equal(first.terminated, [False, True, False, False])


def test_second_instance_has_lanes_of_its_own():
    with watched() as log:

        class Batch:
            def __init__(self, count):
                self.count = count

            def reset(self):
                return np.zeros((self.count, 2))

            def step(self, action):
                return np.ones((self.count, 2)), np.ones(self.count), np.zeros(self.count, bool), {}

        for count in (3, 5):
            env = Batch(count)
            env.reset()
            env.step(np.zeros(count))
    assert [each.lanes for each in log.all("new")] == [3, 5]
    assert [each.lanes for each in log.all("reset")] == [3, 5]


def test_several_objectives_are_not_lanes():
    with watched() as log:

        class Tradeoff:
            def reset(self):
                return np.zeros(2)

            def step(self, action):
                return np.zeros(2), np.array([1.0, -1.0, 0.5]), False, {}

        Tradeoff().step(0)
    assert log.only("new").lanes == 1
    assert np.isnan(log.only("step").reward)


def test_own_vector_of_many_is_no_trainer():
    with watched() as log:

        class Vector:
            def __init__(self):
                self.envs = [Inner() for _ in range(100)]

            def reset(self):
                return np.stack([each.reset()[0] for each in self.envs])

            def step(self, actions):
                rows = [each.step(action) for each, action in zip(self.envs, actions, strict=True)]
                return np.stack([row[0] for row in rows]), [row[1] for row in rows], [row[2] for row in rows], {}

        env = Vector()
        env.reset()
        env.step([0] * 100)
        env.step([0] * 100)
    assert log.whats() == "new reset step step"
    assert log.only("new").lanes == 100


def test_seed_by_position():
    with watched() as log:

        class Env:
            def reset(self, difficulty, seed=None):
                return 0

            def step(self, action):
                return 0, 0.0, False

        env = Env()
        for _ in range(2):
            env.reset(1, 42)
            env.step(0)
    assert [each.seed for each in log.all("reset")] == [42, 42]


def test_decorated_and_slotted_classes_work_on():
    with watched() as log:

        @dataclasses.dataclass(slots=True)
        class Slotted:
            t: int = 0

            def reset(self):
                self.t = 0
                return 0

            def step(self, action):
                return self.t, 1.0, False

        env = Slotted()
        assert env.reset() == 0
        assert env.step(0) == (0, 1.0, False)

        class Graphless:
            def reset(self):
                return 0

            @torch.no_grad()
            def step(self, action):
                return 0, 1.0, torch.is_grad_enabled()

        assert Graphless().step(0)[2] is False
    assert log.whats() == "new step"


def test_class_that_is_made_anew_finds_its_base():
    """As attrs does, for slots: it copies the methods, and changes the cell by which `super()` finds the class."""
    import attr as attrs

    with watched() as log:

        class Base:
            def reset(self):
                return 0

            def step(self, action):
                return 0, 1.0, False

        @attrs.define
        class Env(Base):
            t: int = 0

            def reset(self):
                return super().reset()

            def step(self, action):
                return super().step(action)

        env = Env()
        env.reset()
        assert env.step(0) == (0, 1.0, False)
    assert log.whats() == "new reset step"


def test_nothing_is_kept_alive():
    with watched():
        env = Early()
        env.reset()
        env.step(0)
        alive = weakref.ref(env)
        del env
        assert alive() is None


def test_methods_of_other_names():
    with watched() as log:

        class Catcher:
            def __init__(self):
                self.t = 0

            def new_game(self):
                self._begin()
                return self.screen()

            def _begin(self):
                self.t, self.where = 0, 3

            def screen(self):
                return np.full(2, self.t)

            def act(self, action):
                self.t += 1
                if action < 0:
                    self.new_game()
                return self.screen(), 0.5, self.t >= 2

        class Frames:  # the episode begins as usual
            def reset(self):
                self.t = 0
                return np.zeros(3)

            def frame_step(self, action):
                self.t += 1
                return np.full(3, self.t), 1.0, False

        env = Catcher()
        env.new_game()
        env.act(-1)
        env.act(1)
        env.screen()
        env.act(0)
        env.new_game()
        env = Frames()
        env.reset()
        env.frame_step(1)
    assert log.whats() == "new reset step step step reset new reset step"
    assert [each.terminated for each in log.all("step")] == [False, False, True, False]
    np.testing.assert_array_equal(log.all("step")[1].obs, [1, 1])


def test_other_methods_that_return_several_things():
    with watched() as log:

        class Policy:  # no episode begins
            def act(self, obs):
                self.last = obs
                return np.zeros(2), 0.5, True

        class Batches:  # what it begins with is unlike what it goes on with
            def start(self):
                self.at = 0
                return np.zeros((4, 2))

            def draw(self, count):
                self.at += count
                return np.zeros(2), 0.5, True

        class Steps:  # a reward for each of many rows
            def start(self):
                self.at = 0
                return np.zeros(4)

            def draw(self, count):
                self.at += count
                return np.zeros(4), np.zeros(4), np.zeros(4, bool)

        class Trainer:
            def __init__(self, env):
                self.env = env

            def prepare(self):
                self.total = 0.0
                return np.zeros(2)

            def episode(self, length):
                self.total = sum(self.env.step(0)[1] for _ in range(length))
                return np.zeros(2), self.total, True

        Policy().act(0)
        for cls in (Batches, Steps):
            one = cls()
            one.start()
            one.draw(1)
            assert not hasattr(cls.draw, "__wrapped__"), cls
        trainer = Trainer(Early())
        trainer.env.reset()
        trainer.prepare()
        trainer.episode(2)
        assert not hasattr(Trainer.episode, "__wrapped__")
    assert log.whats() == "new reset step step"
    assert log.only("new").facts["class"] == "Early"


def test_goal_beside_the_first_observation():
    with watched() as log:

        class Reach:
            def reset(self):
                self.at = np.zeros(3)
                return self.at, np.ones(2)

            def step(self, action):
                self.at = self.at + 1
                return self.at, -1.0, False, {}

        class Pair:  # the observation has two parts, now and later
            def reset(self):
                return np.zeros(3), np.ones(2)

            def step(self, action):
                return (np.zeros(3), np.ones(2)), -1.0, False, {}

        for env in (Reach(), Pair()):
            for _ in range(2):
                env.reset()
                env.step(0)
    first, second, third, fourth = (each.obs for each in log.all("reset"))
    np.testing.assert_array_equal(first, np.zeros(3))
    np.testing.assert_array_equal(second, np.zeros(3))
    assert (len(third), len(fourth)) == (2, 2)


def test_a_mask_beside_each_observation():
    with watched() as log:

        class Cards:
            def deal(self):
                self.left = 2
                return [1.0, 0.0, 2.0], [True, False]

            def play(self, card):
                self.left -= 1
                return [1.0, float(card), 0.0], [False, True], 0.5, self.left == 0

        for other in [Cards() for _ in range(20)]:
            other.deal()
        table = Cards()
        table.deal()
        table.play(1)
        table.play(0)
        table.deal()
    assert log.whats() == "new reset step step reset"
    np.testing.assert_array_equal(log.all("reset")[0].obs, [1, 0, 2])
    assert [each.reward for each in log.all("step")] == [0.5, 0.5]
    assert [each.terminated for each in log.all("step")] == [False, True]
