"""Environments whose step returns no observation: told once it is seen that a network is given what they show."""

import copy
import pickle
import random
import threading

import gymnasium as gym
import numpy as np
import pytest
import torch

from tests.capture.env_stub import watched

net = torch.nn.Linear(2, 2)


def choose(obs):
    with torch.no_grad():
        return int(net(torch.as_tensor(obs, dtype=torch.float32)).argmax())


def track():
    class Track:
        def __init__(self, long=3):
            self.long = long
            self.anew()

        def anew(self):
            self.at = 0

        def watch(self):
            return [self.at, -self.at]

        def hurry(self, action):
            self.at += 1
            return 0.5 * self.at, self.at >= self.long

    return Track


def seen(log):
    """Each step with the observation that it led to, and each reset."""
    return [
        ("reset", *np.ravel(each.obs).tolist())
        if each.what == "reset"
        else ("step", None if each.obs is None else np.ravel(each.obs).tolist(), each.reward, bool(each.terminated))
        for each in log.said
        if each.what != "new"
    ]


def test_what_another_method_gives_is_the_observation():
    with watched() as log:
        world = track()()
        for _ in range(3):
            world.anew()
            obs, over = world.watch(), False
            while not over:
                _, over = world.hurry(choose(obs))
                obs = world.watch()
    assert log.whats() == "new " + " ".join(["reset step step step"] * 3)
    assert (log.only("new").lanes, log.only("new").autoreset) == (1, "disabled")
    assert log.only("new").facts["defined"][0].endswith("test_apart.py")
    assert seen(log)[:4] == [
        ("reset", 0, 0),
        ("step", [1, -1], 0.5, False),
        ("step", [2, -2], 1.0, False),
        ("step", [3, -3], 1.5, True),
    ]
    assert all(type(each.action) is int for each in log.all("step"))
    assert log.only("new").facts["resets_itself"] is False  # the last one of each was shown before it began anew


def test_looked_at_before_each_step_only():
    with watched() as log:
        world = track()()
        for _ in range(9):
            _, over = world.hurry(choose(world.watch()))
            if over:
                world.anew()
        world.watch()
    assert log.whats() == "new " + " ".join(["reset step step step"] * 3) + " reset"
    assert seen(log)[3:5] == [("step", None, 1.5, True), ("reset", 0, 0)]  # where it ended nobody saw


def test_an_end_is_told_before_it_is_learned_from():
    with watched() as log:
        world, optimizer = track()(), torch.optim.SGD(net.parameters(), lr=0.0)
        for _ in range(6):
            _, over = world.hurry(choose(world.watch()))
            if over:
                optimizer.step()
                assert len(log.all("step")) in (0, 3, 6)
                world.anew()
    assert len(log.all("step")) == 6


def test_begins_anew_by_itself():
    with watched() as log:

        class Wheel:
            def __init__(self):
                self.at = 0

            def watch(self):
                return np.array([self.at, 1.0])

            def turn(self, action):
                self.at = (self.at + 1) % 3
                return 1.0, self.at == 0

        world = Wheel()
        for _ in range(9):
            world.turn(choose(world.watch()))
    assert log.whats() == "new reset" + " step" * 8
    assert log.only("new").facts["resets_itself"]


@pytest.mark.parametrize("shown", ["class", "attribute", "property", "tuple"])
def test_other_ways_to_show_it(shown):
    with watched() as log:
        Track = track()

        class Shown(Track):
            def anew(self):
                super().anew()
                self.place = np.array([self.at, -self.at])

            def hurry(self, action):
                result = super().hurry(action)
                self.place = np.array([self.at, -self.at])
                return result

            @property
            def now(self):
                return tuple(self.place.tolist())

        for _ in range(3):
            world = Shown()
            over = False
            while not over:
                obs = {
                    "class": world.watch,
                    "attribute": lambda: world.place,  # noqa: B023
                    "property": lambda: world.now,  # noqa: B023
                    "tuple": lambda: tuple(world.watch()),  # noqa: B023
                }[shown]()
                _, over = world.hurry(choose(obs))
            world = None  # an object for each episode: one after the other stands in the same place
    # What a property shows is heard from the first step on: before it, nothing in the text says that it is one.
    first = "" if shown == "property" else "reset "
    assert log.whats().startswith(f"new {first}step step step reset step step step reset step step")
    assert len(log.all("new")) == 1
    assert [each.terminated for each in log.all("step")[:6]] == [False, False, True] * 2


def test_two_objects_at_a_time_are_two_environments():
    with watched() as log:
        Track = track()
        world = Track()
        for _ in range(6):
            if world.hurry(choose(world.watch()))[1]:
                world.anew()
            if world.at == 1:
                other, over = Track(2), False
                while not over:
                    _, over = other.hurry(choose(other.watch()))
    assert len(log.all("new")) == 2
    assert len({each.env for each in log.all("new")}) == 2
    mine = [each for each in log.all("step") if each.env == log.all("new")[0].env]
    assert [each.terminated for each in mine] == [False, False, True, False, False]


@pytest.mark.parametrize("kind", ["numpy", "torch", "fields"])
def test_a_batch_that_writes_into_one_array(kind):
    with watched() as log:

        class Many:
            def __init__(self, count):
                self.at = np.arange(count)
                self.shown = np.zeros((count, 2), dtype=np.float32)

            def watch(self):
                self.shown[:, 0] = self.at
                self.shown[:, 1] = -self.at
                return torch.from_numpy(self.shown) if kind == "torch" else self.shown

            def turn(self, action):
                self.at += 1
                done, paid = self.at >= 4, self.at * 1.0
                self.at[done] = 0
                if kind == "torch":
                    return torch.from_numpy(paid), torch.from_numpy(done)
                return {"paid": paid, "done": done} if kind == "fields" else (paid, done)

        world = Many(3)
        obs = world.watch()
        for _ in range(6):
            with torch.no_grad():
                world.turn(net(torch.as_tensor(obs)).argmax(1).numpy())
            world.watch()
            obs = world.watch()  # asked for again: the same
    assert log.whats() == "new reset" + " step" * 6
    new = log.only("new")
    assert (new.lanes, new.autoreset, new.facts["resets_itself"]) == (3, "same-step", True)
    assert [each.obs[:, 0].tolist() for each in log.said[1:5]] == [[0, 1, 2], [1, 2, 3], [2, 3, 0], [3, 0, 1]]
    assert [each.terminated.tolist() for each in log.all("step")[:3]] == [
        [False] * 3,
        [False, False, True],
        [False, True, False],
    ]


@pytest.mark.parametrize("how", ["scaled", "planes", "codes last"])
def test_what_a_network_is_given_in_another_form(how):
    dice = random.Random(0)
    with watched() as log:

        class Board:
            def __init__(self):
                self.cells = [0] * 9

            def look(self):
                return [list(self.cells[at : at + 3]) for at in (0, 3, 6)]

            def put(self, at):
                self.cells[dice.randrange(9)] = dice.choice([-1, 1])
                return 0, 0 not in self.cells

        wide = torch.nn.Linear({"scaled": 9, "planes": 18, "codes last": 27}[how], 9)
        for _ in range(5):
            board, over = Board(), False
            while not over:
                cells = torch.tensor(board.look()).reshape(-1)
                if how == "scaled":
                    given = cells / 7 - 0.1
                elif how == "planes":
                    given = torch.cat([cells == 1, cells == -1]).float()
                else:
                    given = torch.nn.functional.one_hot(cells + 1, 3).float().reshape(-1)
                _, over = board.put(int(wide(given).argmax()))
    assert len(log.all("new")) == 1
    assert len(log.all("reset")) == 5
    assert np.shape(log.all("reset")[0].obs) == (9,)


def played(world, steps=12):
    for _ in range(steps):
        _, over = world.hurry(choose(world.watch()))
        if over:
            world.anew()


def test_what_no_network_is_given_is_left_alone():
    with watched() as log:

        class Noise:
            def watch(self):
                return np.random.randn(2)

        for other in (lambda world: Noise(), lambda world: world):
            world = track()()
            shown = other(world)
            for _ in range(12):
                shown.watch()
                choose(np.random.randn(2))
                world.hurry(0)
    assert log.said == []


def test_others_with_a_number_and_a_flag():
    with watched() as log:

        class Stopper:
            def __init__(self):
                self.best, self.scores = -1.0, []

            def told(self, score):
                self.scores.append(score)
                self.best = max(self.best, score)
                return self.best, len(self.scores) > 50

            def newest(self):
                return np.array(self.scores[-2:])

        class Dreamed:
            def __init__(self):
                self.net, self.state = torch.nn.Linear(2, 2), torch.zeros(2)

            def hurry(self, action):
                with torch.no_grad():
                    self.state = self.net(self.state)
                return 0.5, False

            def watch(self):
                return self.state

            def anew(self):
                self.state = torch.zeros(2)

        stopper = Stopper()
        for _ in range(20):
            choose(np.random.randn(2))
            stopper.told(0.5)
            stopper.newest()
        played(Dreamed())
    assert log.said == []


def test_a_model_beside_environments_is_left_alone():
    with watched() as log:
        log.streams = [type("Stream", (), {"kind": "gymnasium"})]
        Track = track()
        played(Track())
        assert not hasattr(Track.hurry, "__wrapped__")
    assert log.said == []


def test_around_an_environment_that_is_told_itself():
    with watched() as log:
        type(log).calls = property(lambda self: len(self.said))

        class Around:
            def __init__(self):
                self.env = gym.make("CartPole-v1")
                self.obs, _ = self.env.reset(seed=0)

            def act(self, action):
                self.obs, reward, over, cut, _ = self.env.step(action)
                return reward, over or cut

            def look(self):
                return self.obs[:2]

        world = Around()
        try:
            for _ in range(5):
                world.act(choose(world.look()))
        finally:
            del type(log).calls
    assert log.whats() == "new reset" + " step" * 5


def test_a_thread_of_its_own():
    with watched() as log:
        world = track()()
        played(world, 3)
        thread = threading.Thread(target=played, args=(world,))
        thread.start()
        thread.join()
    assert log.whats().count("step") <= 3


def test_noise_in_what_is_shown_is_no_new_episode():
    with watched() as log:
        Track = track()

        class Noisy(Track):
            def watch(self):
                return np.float32([self.at, random.random()])

        world = Noisy(100)
        for _ in range(12):
            world.watch()
            world.hurry(choose(world.watch()))
    assert len(log.all("reset")) == 1


def test_a_part_of_the_step_is_no_beginning():
    with watched() as log:
        Track = track()

        class InParts(Track):
            def settle(self):
                self.at = self.at + 0.5

        world = InParts(20)
        for _ in range(10):
            world.hurry(choose(world.watch()))
            world.settle()
    assert len(log.all("reset")) <= 2  # the first is not known to be a part
    assert sum(each.obs is None for each in log.all("step")) <= 1


def test_nothing_is_changed():
    def program(Track):
        random.seed(0)
        torch.manual_seed(0)
        world = Track(4)
        found = []
        for _ in range(20):
            obs = world.watch()
            reward, over = world.hurry(choose(obs) + random.random())
            found += [(obs, reward, over, float(torch.rand(())))]
            if over:
                world.anew()
        with pytest.raises(TypeError, match=r"hurry\(\) missing 1 required positional"):
            world.hurry()
        with pytest.raises(AttributeError):
            world.nothing()
        return found, vars(world), vars(copy.deepcopy(world)), random.random(), float(torch.rand(()))

    bare = program(track())
    with watched() as log:
        Track = track()
        assert program(Track) == bare
        assert Track.hurry.__name__ == "hurry"
    assert len(log.all("step")) >= 19
    assert not hasattr(Track.hurry, "__wrapped__")


class Kept:
    def __init__(self):
        self.at = 0

    def watch(self):
        return [self.at, 1]

    def hurry(self, action):
        self.at += 1
        return 1.0, False


def test_one_that_is_pickled():
    with watched() as log:
        world = Kept()
        for _ in range(5):
            world.hurry(choose(world.watch()))
        other = pickle.loads(pickle.dumps(world))
        for _ in range(3):
            other.hurry(choose(other.watch()))
    assert vars(other) == {"at": 8}
    assert len(log.all("new")) == 2


def test_the_episode_begins_with_what_the_other_method_returns():
    with watched() as log:
        Track = track()

        class Begun(Track):
            def begin(self):
                self.at = 0
                return [self.at, -self.at]

        world = Begun()
        for _ in range(3):
            obs, over = world.begin(), False
            while not over:
                _, over = world.hurry(choose(obs))
                obs = world.watch()
        world.begin()
    assert log.whats() == "new " + " ".join(["reset step step step"] * 3) + " reset"


def test_step_and_reset_without_an_observation():
    with watched() as log:

        class Plain:
            def reset(self):
                self.at = 0

            def step(self, action):
                self.at += 1
                return 1.0, self.at == 3

            def state(self):
                return [self.at, 0.5]

        world = Plain()
        for _ in range(3):
            world.reset()
            over = False
            while not over:
                _, over = world.step(choose(world.state()))
    assert log.whats().startswith("new reset step step step reset step step step reset step step")
