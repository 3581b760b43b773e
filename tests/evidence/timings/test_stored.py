"""What steps and networks have returned, followed to where it is stored."""

import pytest

from rldebug.evidence.timings.parts import with_parts
from tests.rules.timings import NETWORK, SIMULATOR, library_spot, on, timing

BACKWARD = library_spot("torch/_tensor.py", "Tensor.backward")
CALM = {"before": "step", "after": "step"}
LEARNS = {"before": "step", "after": "backward"}


def parts(code, *slices):
    made = timing(code, slices, seconds=1000.0)
    found = with_parts(made.slices, made.environments, made.sources)
    return {each.marker: told.part for each, told in zip(slices, found, strict=False)}


ENV = on("env", 1, below=[SIMULATOR], inside=True, **CALM)


@pytest.mark.parametrize(
    "advance",
    [
        "return env.step(action)  # env",
        "new, reward, over, cut, info = env.step(action)  # env\n            return new, reward, over, cut",
    ],
)
def test_returned_by_the_function_that_steps(advance):
    code = f"""
        def advance(env, action):
            {advance}

        def main(env, memory):
            while True:
                new, reward, *rest = advance(env, 1)  # advance
                memory.append((new, reward))  # append
                tidy(memory)  # tidy
    """
    found = parts(
        code,
        on("env", 1, via=["advance"], below=[SIMULATOR], inside=True, **CALM),
        on("append", 1, **CALM),
        on("tidy", 1, **CALM),
    )
    assert (found["append"], found["tidy"]) == ("buffer write", "other")


def test_only_what_is_returned_of_it_counts():
    code = """
        def advance(env, action):
            new, reward, over, cut, info = env.step(action)  # env
            return new, len(info) * 2

        def main(env, memory):
            while True:
                new, size = advance(env, 1)  # advance
                memory.append(new)  # append
                report(size)  # report
    """
    found = parts(
        code,
        on("env", 1, via=["advance"], below=[SIMULATOR], inside=True, **CALM),
        on("append", 1, **CALM),
        on("report", 1, **CALM),
    )
    assert (found["append"], found["report"]) == ("buffer write", "other")


def test_handed_on_to_a_function_that_stores_and_learns():
    code = """
        import time

        class Agent:
            def observe(self, state, reward, **rest):
                self.weigh()  # weigh
                self.rewards[self.place] = reward  # row
                self.memory.add(state, reward)  # add
                loss = self.net(self.rows)  # forward
                loss.backward()  # backward

        def main(env, agent):
            while True:
                state, reward, over, cut, info = env.step(1)  # env
                agent.observe(state, reward=reward)  # observe
    """
    inside = {"via": ["observe"], **LEARNS}
    found = parts(
        code,
        ENV,
        on("row", 1, **inside),
        on("add", 1, **inside),
        on("weigh", 1, **inside),
        on("forward", 1, below=[NETWORK], **inside),
        on("backward", 1, via=["observe"], below=[BACKWARD], before="backward", after="update"),
    )
    assert (found["row"], found["add"]) == ("buffer write", "buffer write")
    assert found["weigh"] != "buffer write"  # the line that leads to it leads to backward as well


def test_a_function_of_the_users_that_works_out_what_is_stored():
    code = """
        import numpy as np

        class Scale:
            def __call__(self, reward):
                self.seen.append(abs(reward))  # seen
                return reward / np.std(self.seen)  # spread

        def main(env, scale, rewards):
            for k in range(100):
                obs, reward, over, cut, info = env.step(1)  # env
                rewards[k] = scale(reward)  # store
    """
    found = parts(code, ENV, on("spread", 1, via=["store"], **CALM), on("store", 1, **CALM))
    assert (found["spread"], found["store"]) == ("other", "buffer write")


def test_an_operator_of_the_users_own():
    code = """
        class Memory:
            def __lshift__(self, row):
                self.rows.append(row)  # row

        def main(env, memory):
            while True:
                obs, reward, over, cut, info = env.step(1)  # env
                memory << (obs, reward)  # shift
    """
    found = parts(code, ENV, on("row", 1, via=["shift"], **LEARNS), on("shift", 1, **LEARNS))
    assert (found["row"], found["shift"]) == ("buffer write", "buffer write")


def test_what_the_network_said_is_kept_too():
    code = """
        def main(env, net, values):
            for k in range(100):
                action, value = net(obs)  # act
                values[k] = value.flatten()  # value
                obs, reward, over, cut, info = env.step(action)  # env
    """
    found = parts(code, ENV, on("act", 1, below=[NETWORK], **CALM), on("value", 1, **CALM))
    assert found["value"] == "buffer write"


def test_priorities_are_written_after_the_update():
    code = """
        import numpy as np

        class Memory:
            def draw(self, n):
                p = self.weights / self.weights.sum()  # p
                return np.random.choice(len(p), n, p=p)

            def renew(self, rows, errors):
                self.weights[rows] = errors  # renew
                self.ages[rows] = 0  # ages
    """
    after = {"before": "update", "after": "step"}
    found = parts(code, on("renew", 1, **after), on("ages", 1, **after))
    assert found == {"renew": "buffer write", "ages": "other"}


def test_the_users_own_in_the_loop_that_steps_is_not_the_loss_of_the_update_that_follows():
    code = """
        def main(env, net, optimizer):
            while True:
                for k in range(8):
                    action = net(obs)  # act
                    obs, reward, over, cut, info = env.step(action)  # env
                    tally(k)  # tally
                flatten(k)  # flatten
                loss = net(rows)  # forward
                loss.backward()  # backward
    """
    found = parts(
        code,
        ENV,
        on("act", 1, below=[NETWORK], **CALM),
        on("tally", 1, **LEARNS),
        on("flatten", 1, **LEARNS),
        on("forward", 1, below=[NETWORK], **LEARNS),
        on("backward", 1, below=[BACKWARD], before="backward", after="update"),
    )
    assert (found["tally"], found["flatten"]) == ("other", "buffer sample")
