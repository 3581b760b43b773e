"""Which part of a training loop time belongs to: small programs, and stacks at their lines."""

import dataclasses

import pytest

from rldebug.evidence.timing import Environment, Slice, Spot
from rldebug.evidence.timings.parts import with_parts
from tests.rules.timings import ENVIRONMENT, NETWORK, SIMULATOR, library_spot, on, timing

BACKWARD = library_spot("torch/_tensor.py", "Tensor.backward")
OPTIMIZER = library_spot("torch/optim/adam.py", "Adam.step", "optimizer")
ZERO = library_spot("torch/optim/optimizer.py", "Optimizer.zero_grad", "optimizer")
WRITER = library_spot("torch/utils/tensorboard/writer.py", "SummaryWriter.add_scalar")
SAMPLED = library_spot("torch/distributions/categorical.py", "Categorical.sample")
PIPE = Spot("/usr/lib/python3.11/multiprocessing/connection.py", "Connection.recv", 1)
CALM = {"before": "step", "after": "step"}  # between two steps of an environment
LEARNS = {"before": "step", "after": "backward"}  # the first update after them
AGAIN = {"before": "update", "after": "backward"}  # the next
AFTER = {"before": "update", "after": "step"}


def env_spot(function, role, kind=None):
    return dataclasses.replace(library_spot("gymnasium/some.py", function, role if kind is None else kind), role=role)


def parts(code, *slices, environments=(ENVIRONMENT,)):
    """The part of each slice, by its marker; of two, of the first."""
    made = timing(code, slices, seconds=1000.0, environments=environments)
    found = with_parts(made.slices, made.environments, made.sources)
    pairs = list(zip(slices, found, strict=False))
    return {each.marker: told.part for each, told in reversed(pairs)}


DQN = """
    import random
    import time
    from collections import deque

    import numpy as np
    import torch

    def sample(memory, size):
        batch = random.sample(memory, size)  # draw
        columns = list(zip(*batch))  # columns
        return [torch.stack(each) for each in columns]  # stack

    def follow(net, target):
        for mine, theirs in zip(net.parameters(), target.parameters()):  # pairs
            theirs.data.mul_(0.99).add_(0.01 * mine.data)  # blend

    def train(env, net, target, optimizer, writer):
        memory = deque(maxlen=1000)
        obs, _ = env.reset()  # first
        for step in range(1000):
            state = torch.tensor(obs)  # state
            q = net(state)  # act
            action = torch.argmax(q)  # pick
            value = action.item()  # item
            new, reward, done, cut, info = env.step(value)  # env
            kept = torch.tensor(new)  # kept
            memory.append((obs, value, reward, kept, done))  # append
            bonus = shaped(step)  # bonus
            states, rewards = sample(memory, 32)  # sample
            scale = sorted(range(32))  # scale
            out = net(states)  # forward
            loss = torch.square(out - rewards).mean()  # loss
            optimizer.zero_grad()  # zero
            loss.backward()  # backward
            norm = weigh(net)  # between
            optimizer.step()  # update
            follow(net, target)  # follow
            writer.add_scalar("loss", 1.0)  # log
            print(step)  # print
            torch.save(net, "net.pt")  # save
            torch.save({"net": net.state_dict()}, "net.pt")  # dict
            time.sleep(0.01)  # sleep
            tidy(step)  # tidy
"""
ANCHORS = (
    on("env", 1, below=[SIMULATOR], inside=True, **CALM),
    on("act", 1, below=[NETWORK], grad=False, **CALM),
    on("forward", 1, below=[NETWORK], **LEARNS),
    on("backward", 1, below=[BACKWARD], before="backward", after="update"),
    on("update", 1, below=[OPTIMIZER], before="backward", after="update"),
)


def dqn(*slices, **options):
    return parts(DQN, *slices, *ANCHORS, **options)


# ── what is known for certain ───────────────────────────────────────────────────────────────────────────────────────


def test_the_calls_themselves():
    found = dqn(on("zero", 1, below=[ZERO], **LEARNS))
    assert found == {
        "zero": "optimizer",
        "env": "simulator",
        "act": "acting",
        "forward": "loss",
        "backward": "backward",
        "update": "optimizer",
    }


@pytest.mark.parametrize(
    "where",
    [
        on("env", 1, below=[SIMULATOR], inside=True, span="mine", **CALM),
        on("act", 1, below=[NETWORK], span="mine", **CALM),
        on("backward", 1, below=[BACKWARD], span="mine", before="backward"),
        on("tidy", 1, span="mine", **AFTER),
    ],
)
def test_the_users_own_name_comes_first(where):
    assert parts(DQN, where)[where.marker] == "mine"


def test_pictures_are_rendering_wherever_they_are_made():
    render = env_spot("PassiveEnvChecker.render", "wrapper")
    drawn = Spot("/venv/lib/python3.11/site-packages/pygame/draw.py", "circle", 1)
    assert parts(DQN, on("env", 1, below=[SIMULATOR, drawn], inside=True, **CALM))["env"] == "rendering"
    assert parts(DQN, on("tidy", 1, below=[render], **AFTER))["tidy"] == "rendering"
    own = Spot("train.py", "render", 1, "user")  # a function of the user's that draws a plot, say
    assert dqn(on("tidy", 1, below=[own], **AFTER))["tidy"] == "other"


def test_what_leads_to_a_step_of_an_evaluation_is_evaluation():
    environments = (ENVIRONMENT, Environment("CartPole-v1", steps=50, first_update=9, evaluation=True))
    slices = (
        on("env", 1, below=[SIMULATOR], inside=True, env=1, **CALM),
        on("act", 1, below=[NETWORK], env=1, before="reset", after="step"),
        on("tidy", 1, env=1, before="update", after="reset"),
    )
    for each in slices:
        assert parts(DQN, each, environments=environments)[each.marker] == "evaluation"
    learned = on("env", 1, below=[SIMULATOR], inside=True, env=0, **CALM)
    assert parts(DQN, learned, environments=environments)["env"] == "simulator"


# ── inside of an environment ────────────────────────────────────────────────────────────────────────────────────────

WRAPPER = env_spot("ObservationWrapper.step", "wrapper")
VECTOR = env_spot("SyncVectorEnv.step", "vector")
OWN_ENV = Spot("train.py", "Grid.step", 3, "user", role="environment")
OWN_WRAPPER = Spot("train.py", "Scale.observation", 3, "user", role="wrapper")
NUMPY = library_spot("numpy/core/numeric.py", "clip")


@pytest.mark.parametrize(
    ("below", "part"),
    [
        ([env_spot("CartPole.step", "environment")], "simulator"),
        ([WRAPPER], "wrappers"),
        ([WRAPPER, NUMPY], "wrappers"),
        ([WRAPPER, env_spot("CartPole.step", "environment"), NUMPY], "simulator"),
        ([env_spot("CartPole.step", "environment"), WRAPPER], "wrappers"),  # the innermost does the work
        ([WRAPPER, OWN_WRAPPER], "wrappers"),
        ([WRAPPER, OWN_ENV, NUMPY], "simulator"),
        ([VECTOR], "wrappers"),
        ([VECTOR, env_spot("CartPole.step", "environment")], "simulator"),
        ([VECTOR, PIPE], "waiting"),
        ([WRAPPER, VECTOR, PIPE], "waiting"),
        ([VECTOR, env_spot("Remote.step", "environment"), PIPE], "simulator"),  # it talks to its own simulator
        ([env_spot("CartPole.reset", "environment")], "reset"),
        ([WRAPPER, env_spot("AutoReset.step", "wrapper"), env_spot("CartPole.reset", "environment")], "reset"),
        ([], "simulator"),
    ],
)
def test_the_innermost_that_is_one_does_the_work(below, part):
    assert parts(DQN, on("env", 1, below=below, inside=True, **CALM))["env"] == part


def test_what_leads_to_a_reset_within_the_environment_is_reset():
    helper = Spot("/venv/lib/python3.11/site-packages/level.py", "generate", 1)
    assert parts(DQN, on("first", 1, below=[helper], inside=True, before="step", after="reset"))["first"] == "reset"


def test_a_network_inside_of_an_environment_is_the_environments():
    """A learned reward, or a model that is played in."""
    slices = (on("env", 1, below=[OWN_ENV, NETWORK], inside=True, **CALM),)
    assert dqn(*slices)["env"] == "simulator"
    found = dqn(*slices, on("pick", 1, **CALM))
    assert found["pick"] == "acting"  # and it is not taken for what acts


# ── frames of libraries ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("where", "part"),
    [
        (on("log", 1, below=[WRITER], **AFTER), "logging"),
        (on("print", 1, **AFTER), "logging"),
        (on("save", 1, **AFTER), "saving"),
        (on("tidy", 1, below=[PIPE], **AFTER), "waiting"),
        (on("sleep", 1, **AFTER), "waiting"),
        (on("forward", 1, below=[NETWORK], before="backward", after="update"), "loss"),
        (on("tidy", 1, below=[NETWORK], before="update", after="end"), "loss"),
        (on("pick", 1, below=[SAMPLED], **CALM), "acting"),
        (on("loss", 1, below=[SAMPLED], **LEARNS), "loss"),
        (on("act", 1, below=[NETWORK, BACKWARD], **CALM), "backward"),  # a network that runs a loss of its own
        (on("state", 1, **CALM), "copies"),
        (on("item", 1, **CALM), "copies"),
        (on("state", 1, below=[NUMPY], **CALM), "other"),
        (on("tidy", 1, **AFTER), "other"),
        (on("tidy", 1, before="update", after="end"), "other"),
    ],
)
def test_what_frames_and_calls_say(where, part):
    assert dqn(where)[where.marker] == part


def test_sleep_belongs_to_the_part_it_delays():
    found = dqn(on("sleep", 1, below=[SIMULATOR], inside=True, **CALM))
    assert found["sleep"] == "simulator"


# ── by its place in the loop ────────────────────────────────────────────────────────────────────────────────────────


def test_what_a_step_returned_is_written():
    found = dqn(on("append", 1, **CALM), on("kept", 1, **CALM), on("bonus", 1, **CALM))
    assert found["append"] == "buffer write"
    assert found["kept"] == "copies"
    assert found["bonus"] == "other"


def test_it_is_written_also_where_the_update_follows():
    assert dqn(on("append", 1, **LEARNS))["append"] == "buffer write"
    assert dqn(on("append", 1, before="update", after="backward"))["append"] != "buffer write"


def test_an_operation_between_the_network_and_the_step_acts():
    found = dqn(on("pick", 1, **CALM), on("act", 1, **CALM), on("bonus", 1, **CALM))
    assert (found["pick"], found["bonus"]) == ("acting", "other")


def test_a_batch_is_taken_where_chance_plays_a_part():
    found = dqn(on("draw", 1, **LEARNS), on("columns", 1, **LEARNS), on("stack", 1, **LEARNS))
    assert found["draw"] == found["columns"] == found["stack"] == "buffer sample"


def test_between_the_network_and_backward_it_is_the_loss():
    found = dqn(on("loss", 1, **LEARNS), on("between", 1, before="backward", after="update"))
    assert (found["loss"], found["between"]) == ("loss", "other")


def test_weights_that_follow_are_target_networks():
    found = dqn(on("blend", 1, **AFTER), on("pairs", 1, **AFTER), on("tidy", 1, **AFTER))
    assert (found["blend"], found["pairs"], found["tidy"]) == ("target networks", "target networks", "other")
    assert dqn(on("dict", 1, called=".state_dict", **AFTER))["dict"] == "saving"
    again = dqn(on("blend", 1, before="update", after="backward"))
    assert again["blend"] == "target networks"


PPO = """
    import numpy as np
    import torch

    class Memory:
        def put(self, obs, action, reward, done):
            self.rewards[self.place] = reward  # row
            self.place += 1  # place

    def gae(rewards, values, last):
        advantages, running = torch.zeros(128), 0.0
        for t in reversed(range(128)):  # backwards
            running = rewards[t] + 0.99 * 0.95 * running  # recursion
            advantages[t] = running  # fill
        return advantages

    def rollout(envs, net, memory):
        for step in range(128):
            with torch.no_grad():
                actions = net(obs)  # act
            obs, reward, terminated, truncated, infos = envs.step(actions)  # env
            rewards = torch.tensor(reward).to("cuda").view(-1)  # convert
            memory.rewards[step] = rewards  # inline
            memory.put(obs, actions, reward, terminated)  # put
            for info in infos:  # infos
                finished(info)  # finished
        for step in range(128):  # later
            memory.summary[step] = reward * step  # summary

    def update(net, memory, optimizer):
        advantages = gae(memory.rewards, memory.values, 0.0)  # gae
        order = np.arange(128)
        for epoch in range(4):
            np.random.shuffle(order)  # shuffle
            for start in range(0, 128, 32):
                chosen = order[start : start + 32]  # chosen
                rows = memory.obs[chosen]  # rows
                ratio = net(rows)  # forward
                loss = torch.min(ratio, ratio * advantages[chosen])  # loss
                optimizer.zero_grad()
                loss.backward()  # backward
                optimizer.step()  # update
                report(loss)  # report

    while True:
        rollout(envs, net, memory)  # rollout
        update(net, memory, optimizer)  # learn
"""
PPO_ANCHORS = (
    on("env", 1, below=[VECTOR, SIMULATOR], inside=True, **CALM),
    on("act", 1, below=[NETWORK], grad=False, **CALM),
    on("forward", 1, below=[NETWORK], **AGAIN),
    on("backward", 1, below=[BACKWARD], before="backward", after="update"),
    on("update", 1, below=[OPTIMIZER], before="backward", after="update"),
)


def ppo(*slices):
    return parts(PPO, *slices, *PPO_ANCHORS)


def test_rows_are_written_inline_by_a_method_or_after_a_conversion():
    found = ppo(on("inline", 1, **CALM), on("row", 1, **CALM), on("place", 1, **CALM), on("convert", 1, **CALM))
    assert found["inline"] == found["row"] == found["place"] == "buffer write"
    assert found["convert"] == "copies"


def test_a_later_loop_over_what_the_last_step_returned_writes_nothing():
    assert ppo(on("summary", 1, **LEARNS))["summary"] != "buffer write"


def test_what_is_done_with_infos_is_the_users_own():
    assert ppo(on("finished", 1, **CALM))["finished"] == "other"


def test_a_rollout_is_worked_over_once():
    found = ppo(on("recursion", 1, **LEARNS), on("fill", 1, **LEARNS), on("backwards", 1, **LEARNS))
    assert {found[each] for each in ("recursion", "fill", "backwards")} == {"advantages"}


def test_minibatches_are_taken_also_before_the_first_update():
    """The first of them lies after the last step; the same lines are reached between two updates."""
    slices = [on(each, 1, **when) for each in ("chosen", "rows") for when in (AGAIN, LEARNS)]
    made = timing(PPO, [*slices, *PPO_ANCHORS], seconds=1000.0)
    found = with_parts(made.slices, made.environments, made.sources)
    assert [each.part for each in found[:4]] == ["buffer sample"] * 4
    assert ppo(on("shuffle", 1, **LEARNS))["shuffle"] == "buffer sample"


def test_what_comes_after_an_update_is_not_a_batch():
    assert ppo(on("report", 1, **AGAIN))["report"] == "other"


def test_a_rollout_whose_graph_was_kept_calls_no_network_again():
    """REINFORCE: the loss is put together from what acting has kept; returns are recursive, the loss is not."""
    code = """
        import torch

        def finish(rewards, log_probs, optimizer):
            returns, running = [], 0.0
            for reward in reversed(rewards):
                running = reward + 0.99 * running  # recursion
                returns.insert(0, running)  # insert
            terms = []
            for log_prob, value in zip(log_probs, returns):
                terms.append(-log_prob * value)  # term
            loss = torch.stack(terms).sum()  # sum
            loss.backward()  # backward
            optimizer.step()  # update

        while True:
            for step in range(100):
                dist = policy(obs)  # act
                obs, reward, over, cut, info = env.step(action)  # env
                rewards.append(reward)  # append
            finish(rewards, log_probs, optimizer)  # finish
    """
    found = parts(
        code,
        on("recursion", 1, **LEARNS),
        on("insert", 1, **LEARNS),
        on("term", 1, **LEARNS),
        on("sum", 1, **LEARNS),
        on("append", 1, **CALM),
        on("act", 1, below=[NETWORK], **CALM),
        on("env", 1, below=[SIMULATOR], inside=True, **CALM),
        on("backward", 1, below=[BACKWARD], before="backward", after="update"),
        on("update", 1, below=[OPTIMIZER], before="backward", after="update"),
    )
    assert (found["recursion"], found["insert"], found["append"]) == ("advantages", "advantages", "buffer write")
    assert (found["term"], found["sum"]) == ("loss", "loss")


def test_an_environment_of_the_users_own_does_not_hide_the_line_that_steps_it():
    """Its frames are the user's too: the way to the step ends where the environment begins."""
    code = """
        class Grid:
            def step(self, action):
                self.place = moved(action)  # move
                self.rows.append(action)  # own

        def main(env, memory):
            for step in range(10):
                obs, reward, done, info = env.step(1)  # env
                memory.append((obs, reward, done))  # append
    """
    inside = Spot("train.py", "Grid.step", 4, "user", role="environment")
    found = parts(code, on("env", 1, below=[inside], inside=True, **CALM), on("append", 1, **CALM))
    assert found == {"env": "simulator", "append": "buffer write"}


def test_without_the_text_little_is_known_and_nothing_made_up():
    spot = Spot("/elsewhere/gone.py", "main", 3, "user")
    slices = [
        Slice(1.0, 1, (spot,), "step", "step"),
        Slice(1.0, 1, (spot, NETWORK), "step", "step"),
        Slice(1.0, 1, (), "step", "step"),
        Slice(1.0, 1, (spot, BACKWARD), "backward", "update"),
    ]
    found = with_parts(slices, (), ())
    assert [each.part for each in found] == ["other", "acting", "other", "backward"]
    assert [each.called for each in found] == [""] * 4


def test_what_is_called_is_told_with_its_library():
    made = timing(DQN, [on("state", 1, **CALM), on("item", 1, **CALM), on("draw", 1, **LEARNS)])
    found = with_parts(made.slices, made.environments, made.sources)
    assert [each.called for each in found[:3]] == ["torch.tensor", ".item", "random.sample"]


PIPES = """
    def main():
        while True:
            got = [pipe.recv() for pipe in pipes]  # got
            loss(got).backward()  # backward
            print(loss)

    main()
"""


def test_a_comprehension_is_about_what_its_function_is_about():
    made = timing(PIPES, [on("got", 1, below=[PIPE], **AGAIN), on("backward", 1, below=[BACKWARD], before="backward")])
    got = made.slices[0]
    inner = tuple(
        dataclasses.replace(each, function="main.<locals>.<listcomp>") if each.kind == "user" else each
        for each in got.stack[-2:]
    )
    slices = [dataclasses.replace(got, stack=(*got.stack[:-1], *inner)), *made.slices[1:]]
    assert with_parts(slices, (), made.sources)[0].part == "waiting"


@pytest.mark.parametrize(
    ("file", "function", "kind", "part"),
    [
        ("train.py", "Reach.step", "user", "simulator"),
        ("train.py", "collect", "user", "wrappers"),  # a function that is given a vector
        ("/venv/lib/python3.11/site-packages/gymnasium/vector/sync_vector_env.py", "S.step", "vector", "wrappers"),
        ("/venv/lib/python3.11/site-packages/gymnasium/envs/toy/cart.py", "CartVector.step", "vector", "simulator"),
    ],
)
def test_a_vector_of_arrays_simulates(file, function, kind, part):
    spot = Spot(file, function, 1, kind, role="vector")
    assert with_parts([Slice(1.0, 1, (spot,), "step", "step", inside=True)], (), ())[0].part == part
