"""Errors that training code meets and that no list has: mixed precision, transforms, queues, logs, settings."""

from __future__ import annotations

import argparse
import collections
import copy
import csv
import heapq
import io
import json
import logging
import math
import pickle
import random
import statistics
import threading
from types import SimpleNamespace

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.tensorboard import SummaryWriter

from tests.errors.cases import cases_in, check, raises

# ── mixed precision ─────────────────────────────────────────────────────────────────────────────────────────────────


def actor_critic():
    actor, critic = nn.Linear(2, 1), nn.Linear(2, 1)
    return actor, critic, torch.optim.SGD(actor.parameters(), lr=0.1), torch.optim.SGD(critic.parameters(), lr=0.1)


@raises("X500 swapped optimizers", "OPT450", "no parameter of actor_optimizer has a gradient")
def x500_swapped_optimizers():
    _actor, critic, actor_optimizer, _critic_optimizer = actor_critic()
    scaler = torch.amp.GradScaler("cpu")
    scaler.scale(critic(torch.ones(1, 2)).sum()).backward()
    scaler.step(actor_optimizer)  # here


@raises("X501 unscaled twice", "OPT451", "once", "scaler.unscale_(optimizer)")
def x501_unscaled_twice():
    actor, _critic, optimizer, _ = actor_critic()
    scaler = torch.amp.GradScaler("cpu")
    scaler.scale(actor(torch.ones(1, 2)).sum()).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(actor.parameters(), 0.5)
    scaler.unscale_(optimizer)  # here


@raises("X501 update forgotten", "OPT451", "scaler.update()")
def x501_update_forgotten():
    actor, _critic, optimizer, _ = actor_critic()
    scaler = torch.amp.GradScaler("cpu")
    for _epoch in range(2):
        scaler.scale(actor(torch.ones(1, 2)).sum()).backward()
        scaler.step(optimizer)  # here


@raises("X501 nothing was scaled", "OPT451", "scale the loss")
def x501_nothing_was_scaled():
    torch.amp.GradScaler("cpu").update()  # here


# ── functions of one's own, transforms, compilation ─────────────────────────────────────────────────────────────────


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, features):
        return features * 1

    @staticmethod
    def backward(ctx, gradient):
        return -gradient.sum(0)


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, features, coefficient):
        return features * coefficient

    @staticmethod
    def backward(ctx, gradient):
        return gradient


@raises("X502 gradient summed over the batch", "GRA450", "backward() of Reverse", "[4] instead of [3, 4]")
def x502_gradient_summed_over_the_batch():
    features = nn.Linear(2, 4)(torch.ones(3, 2))
    Reverse.apply(features).sum().backward()  # here


@raises("X502 gradient of a setting forgotten", "GRA450", "backward() of Scaled", "1 instead of 2")
def x502_gradient_of_a_setting_forgotten():
    features = nn.Linear(2, 4)(torch.ones(3, 2))
    Scaled.apply(features, 0.5).sum().backward()  # here


@raises("X502 hook", "GRA450", "hook")
def x502_hook():
    features = nn.Linear(2, 4)(torch.ones(3, 2))
    features.register_hook(lambda gradient: gradient[0])
    features.sum().backward()  # here


@raises("X503 noise of a population", "NET450", 'randomness="different"')
def x503_noise_of_a_population():
    def perturbed(weights):
        return weights + torch.randn_like(weights)  # here

    torch.vmap(perturbed)(torch.ones(3, 2))


@raises("X504 a branch of each member", "NET451", "torch.where")
def x504_a_branch_of_each_member():
    def clipped(ratio):
        return ratio if ratio < 1.2 else ratio * 0  # here

    torch.vmap(clipped)(torch.ones(3))


@raises("X504 item of each member", "NET451", ".item() was asked of a tensor")
def x504_item_of_each_member():
    torch.vmap(lambda value: value.item())(torch.ones(3))  # here


@raises("X504 a compiled branch", "NET451", "torch.where")
def x504_a_compiled_branch():
    @torch.compile(fullgraph=True, backend="eager")
    def limited(advantages):
        if advantages.max() > 10:  # here
            return advantages / 10
        return advantages

    limited(torch.ones(4))


OVERWRITTEN = (
    "Error: accessing tensor output of CUDAGraphs that has been overwritten by a subsequent run. Stack trace: File "
    '"ppo.py", line 31. To prevent overwriting, clone the tensor outside of torch.compile() or call '
    "torch.compiler.cudagraph_mark_step_begin() before each model invocation."
)


@raises("X505 CUDA graphs", "PRF450", "clone()", only_text=True)
def x505_cuda_graphs():
    raise RuntimeError(OVERWRITTEN)  # here


@raises("X506 every minibatch another size", "PRF451", "dynamic=True", "last minibatch")
def x506_every_minibatch_another_size():
    doubled = torch.compile(lambda rows: rows * 2, fullgraph=True, backend="eager", dynamic=False)
    logging.disable(logging.WARNING)
    try:
        with torch._dynamo.config.patch(recompile_limit=1):
            for rows in (2, 3, 4):
                doubled(torch.ones(rows))  # here
    finally:
        logging.disable(logging.NOTSET)


# ── what is stored ──────────────────────────────────────────────────────────────────────────────────────────────────


@raises("X510 key", "BUF450", "batch holds no 'rewards'", "read 'reward'", text_too=False)
def x510_key():
    batch = {"obs": torch.zeros(3, 2), "reward": torch.zeros(3), "done": torch.zeros(3)}
    return batch["rewards"].sum()  # here


@raises("X511 n-step window", "BUF451", "window is empty")
def x511_n_step_window():
    window = collections.deque(maxlen=3)
    return window.popleft()  # here


@raises("X511 list of a class", "BUF451", "self.ready is empty")
def x511_list_of_a_class():
    Episodes().next()


class Episodes:
    def __init__(self):
        self.ready = []

    def next(self):
        return self.ready.pop()


@raises("X512 deque", "BUF452", "buffer was changed", "list(buffer)")
def x512_deque():
    buffer = collections.deque([1.0, 2.0], maxlen=10)
    for reward in buffer:  # here
        buffer.append(reward)


@raises("X512 dictionary", "BUF452", "visits was changed")
def x512_dictionary():
    visits = {0: 1}
    for state in visits:  # here
        visits[state + 1] = 1


@raises("X513 priorities", "BUF453", "greatest priority", "priorities")
def x513_priorities():
    memory, priorities = ["a", "b"], [0.0, 0.0]
    random.choices(memory, weights=priorities, k=2)  # here


@raises("X514 heap of dictionaries", "BUF454", "next(counter)")
def x514_heap_of_dictionaries():
    heap = []
    for reward in (1.0, 2.0):
        heapq.heappush(heap, (0.5, {"reward": reward}))  # here


@raises("X514 heap of arrays", "BUF454", "next(counter)")
def x514_heap_of_arrays():
    heap = []
    for _step in range(2):
        heapq.heappush(heap, (0.5, np.zeros(3)))  # here


Transition = collections.namedtuple("Transition", "obs reward")


@raises("X515 named tuple", "BUF455", "last = last._replace(reward=…)")
def x515_named_tuple():
    last = Transition(0, 1.0)
    last.reward = 0.5  # here


@raises("X515 tuple", "BUF455", "tuple")
def x515_tuple():
    stored = [(0, 1.0)]
    stored[0][1] = 0.5  # here


@raises("X516 Q-table", "PRE450", "state was used as a key", "tuple(state)")
def x516_q_table():
    table, state = {}, np.zeros(2)
    table[state] = 0.0  # here


@raises("X516 tensor as a key", "PRE450", "action.item()")
def x516_tensor_as_a_key():
    counts, action = {0: 1, 1: 2}, torch.tensor(1)
    return counts[action]  # here


# ── environments ────────────────────────────────────────────────────────────────────────────────────────────────────


class Logged:
    """A wrapper of one's own that hands everything on."""

    def __init__(self, env):
        self.env = env

    def __getattr__(self, name):
        return getattr(self.env, name)


@raises("X520 copied wrapper", "ENV452", "Logged asks itself for env", "AttributeError(name)")
def x520_copied_wrapper():
    copy.copy(Logged(gym.make("CartPole-v1")))


@raises("X521 n of a box", "ENV453", "space.shape[0]")
def x521_n_of_a_box():
    env = gym.make("Pendulum-v1")
    return nn.Linear(3, env.action_space.n)  # here


@raises("X521 shape of a discrete one", "ENV453", "space.n", "Discrete(2)", text_too=False)
def x521_shape_of_a_discrete_one():
    env = gym.make("CartPole-v1")
    return nn.Linear(4, env.action_space.shape[0])  # here


@raises("X521 bounds of a discrete one", "ENV453", "space.n")
def x521_bounds_of_a_discrete_one():
    env = gym.make("CartPole-v1")
    return np.clip(0, 0, env.action_space.high)  # here


class Silent:
    """A wrapper whose reset() forgets to return."""

    def __init__(self, env):
        self.env = env

    def reset(self):
        self.env.reset()

    def step(self, action):
        return self.env.step(action)


@raises("X522 reset returns nothing", "ENV454", "first is None", "reset() of Silent", text_too=False)
def x522_reset_returns_nothing():
    env = Silent(gym.make("CartPole-v1"))
    first = env.reset()
    return torch.zeros(first.shape)  # here


@raises("X523 seed of NumPy", "SEE450", "int(seed)", "numpy.int64")
def x523_seed_of_numpy():
    seed = np.random.default_rng(0).integers(10)
    gym.make("CartPole-v1").reset(seed=seed)  # here


@raises("X523 negative seed", "SEE450", "int(seed)")
def x523_negative_seed():
    seed = -1
    np.random.seed(seed)  # here


# ── saved, copied ───────────────────────────────────────────────────────────────────────────────────────────────────


class Agent:
    def __init__(self):
        self.net = nn.Linear(2, 2)
        self.shown = logging.StreamHandler()


@raises("X524 agent saved whole", "CKP450", "agent.shown, a StreamHandler,", "state_dict()")
def x524_agent_saved_whole():
    agent = Agent()
    torch.save({"agent": agent, "step": 1}, io.BytesIO())  # here


@raises("X524 pickled", "CKP450", "agent.shown, a StreamHandler,")
def x524_pickled():
    agent = Agent()
    pickle.dumps(agent)  # here


@raises("X524 environment copied", "CKP450", "env.window", "cannot be copied")
def x524_environment_copied():
    env = Silent(None)
    env.window = threading.Lock()
    copy.deepcopy(env)  # here


@raises("X525 state of the generator", "CKP451", "state is (3,) float32", ".cpu()")
def x525_state_of_the_generator():
    state = torch.ones(3)
    torch.set_rng_state(state)  # here


# ── numbers and logs ────────────────────────────────────────────────────────────────────────────────────────────────


@raises("X530 mean of no episode", "EVA450", "returns is empty", "if len(returns)")
def x530_mean_of_no_episode():
    returns = []
    return sum(returns) / len(returns)  # here


@raises("X530 statistics", "EVA450", "returns is empty")
def x530_statistics():
    returns = []
    return statistics.mean(returns)  # here


@raises("X530 best of none", "EVA450", "scores is empty")
def x530_best_of_none():
    scores = np.zeros(0)
    return scores.max()  # here


@raises("X530 mean of an empty slice", "EVA450", "lengths is empty", warns=True)
def x530_mean_of_an_empty_slice():
    lengths = np.zeros(0)
    return np.mean(lengths)  # here


@raises("X531 loss of a batch", "EVA451", "losses was logged as a number and is (3,)", "losses.mean().item()")
def x531_loss_of_a_batch():
    losses = torch.ones(3)
    writer = SummaryWriter.__new__(SummaryWriter)
    writer.add_scalar("loss", losses, 0)  # here


@raises("X532 W&B", "EVA452", "wandb.init()", only_text=True)
def x532_w_b():
    raise RuntimeError("You must call wandb.init() before wandb.log()")  # here


@raises("X533 loss before learning starts", "EVA453", "loss is read, and the if in line")
def x533_loss_before_learning_starts():
    for step in range(10):
        if step >= 5:
            loss = torch.zeros(())
        print(loss.item(), end="")  # here


@raises("X533 a loop over nothing", "EVA453", "policy_loss is read, and the for in line", "minibatches")
def x533_a_loop_over_nothing():
    batch, minibatch = 4, 8
    for start in range(0, batch - minibatch, minibatch):
        policy_loss = start
    return policy_loss  # here


@raises("X534 NumPy number", "EVA454", "float32", "float(value)")
def x534_numpy_number():
    mean = np.float32(1.5)
    json.dumps({"return": mean})  # here


@raises("X534 tensor", "EVA454", "Tensor", ".item()")
def x534_tensor():
    json.dumps({"loss": torch.ones(())})  # here


@raises("X535 new column", "EVA455", "'eval_return'", "fieldnames")
def x535_new_column():
    log = csv.DictWriter(io.StringIO(), ["step", "loss"])
    log.writerow({"step": 1, "loss": 0.5, "eval_return": 3.0})  # here


@raises("X536 exponent", "EXP450", "step is 100000", "math.exp(-step / decay)")
def x536_exponent():
    step, decay = 100_000, 100
    return 0.05 + 0.95 * math.exp(step / decay)  # here


@raises("X537 bonus of an action never tried", "EXP451", "total is 0")
def x537_bonus_of_an_action_never_tried():
    total, tried = 0, 1
    return math.sqrt(math.log(total) / tried)  # here


@raises("X538 learning rate of a YAML file", "INS452", "the optimizer's setting is a text", "1.0e-4")
def x538_learning_rate_of_a_yaml_file():
    settings = {"lr": "1e-4"}  # as YAML reads lr: 1e-4
    torch.optim.Adam(nn.Linear(2, 2).parameters(), lr=settings["lr"])  # here


@raises("X538 discount of the surroundings", "INS452", "float(value)")
def x538_discount_of_the_surroundings():
    gamma, reward = "0.99", 0.5
    return reward * gamma  # here


@raises("X539 argparse", "INS451", "the setting gae_lambda was never given")
def x539_argparse():
    args = argparse.Namespace(gamma=0.99)
    return args.gae_lambda  # here


@raises("X539 namespace", "INS451", "the setting lr was never given")
def x539_namespace():
    config = SimpleNamespace(gamma=0.99)
    return config.lr  # here


class ConfigAttributeError(AttributeError):
    pass


@raises("X539 Hydra", "INS451", "the setting entropy was never given", only_text=True)
def x539_hydra():
    raise ConfigAttributeError("Key 'entropy' is not in struct\n    full_key: entropy\n    object_type=dict")  # here


@pytest.mark.parametrize("case", cases_in(globals()), ids=lambda case: case.id)
def test_it_is_explained(case):
    check(case)
