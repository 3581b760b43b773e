"""Shapes and dtypes: the texts of PyTorch and NumPy where two things do not fit, with what their sizes are."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import nn
from torch.distributions import Categorical
from torch.nn import functional as F
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from tests.errors.cases import cases_in, check, raises


def mlp(*widths):
    layers = [nn.Linear(one, other) for one, other in pairwise(widths)]
    return nn.Sequential(*(each for layer in layers for each in (layer, nn.Tanh())))


class Critic(nn.Module):
    def __init__(self, obs_dim, act_dim):
        super().__init__()
        self.net = mlp(obs_dim + act_dim, 16, 1)

    def forward(self, obs, action):
        joined = torch.cat([obs, action], dim=-1)
        return self.net(joined)


class Pixels(nn.Module):
    def __init__(self, flat=32):
        super().__init__()
        self.conv, self.head = nn.Conv2d(4, 8, 3, stride=2), nn.Linear(flat, 2)

    def forward(self, frames):
        features = self.conv(frames).relu()
        return self.head(features.flatten(1))


class Rollout:
    def __init__(self, n_steps=16, n_envs=4):
        self.n_steps, self.n_envs, self.step = n_steps, n_envs, 0
        self.obs, self.rewards = torch.zeros(n_steps, n_envs, 3), torch.zeros(n_steps, n_envs)


# ── M024 ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@raises(
    "M024 rollout and steps",
    "POL430",
    "logp is (1024,)",
    "adv is (128,)",
    "1024 is n_envs × n_steps",
    "128 is n_steps",
    text_too=False,
)
def advantages_of_one_environment():
    n_envs, n_steps = 8, 128
    logp = Categorical(logits=nn.Linear(3, 2)(torch.zeros(n_envs * n_steps, 3))).log_prob(torch.zeros(1024))
    adv = torch.zeros(n_steps)
    return -(logp * adv).mean()  # here


@raises(
    "M024 minibatch", "VAL430", "returns is (256,)", "256 is args.batch_size", "32 is args.minibatch", text_too=False
)
def returns_of_the_whole_batch():
    args = SimpleNamespace(batch_size=256, minibatch=32)
    critic, returns = nn.Linear(3, 1), torch.zeros(args.batch_size)
    values = critic(torch.zeros(args.minibatch, 3)).squeeze(-1)
    return ((values - returns) ** 2).mean()  # here


@raises(
    "M024 flat parameters",
    "OPT430",
    "27653 is the parameters of policy + value (18180 + 9473)",
    "18180 is the parameters of policy",
    text_too=False,
)
def step_of_policy_and_value():
    policy, value = nn.Sequential(mlp(8, 128, 128), nn.Linear(128, 4)), nn.Sequential(mlp(8, 128, 64), nn.Linear(64, 1))
    flat = parameters_to_vector([*policy.parameters(), *value.parameters()])
    step = torch.zeros(sum(each.numel() for each in policy.parameters()))
    return flat - 0.01 * step  # here


@raises("M024 one value more", "ADV430", "values is (17,)", "rewards is (16,)", "16 is rollout.n_steps", text_too=False)
def value_for_the_bootstrap():
    rollout, gamma = Rollout(), 0.99
    logp = Categorical(logits=nn.Linear(3, 2)(torch.zeros(16, 3))).log_prob(torch.zeros(16))
    rewards, values = torch.zeros(16), torch.zeros(17)
    delta = rewards + gamma * values  # here
    return (logp * delta).mean(), rollout


@raises(
    "M024 flags of each environment", "DIS430", "8 is envs.num_envs", "done is (8,)", "reward is (64,)", text_too=False
)
def flags_of_each_environment():
    envs = gym.make_vec("CartPole-v1", num_envs=8, vectorization_mode="sync")
    reward, done = torch.zeros(64), torch.zeros(8)
    target = reward * (1 - done)  # here
    return target, envs


@raises("M024 without names", "ADV432", "64 is args['num_envs'] × args['num_steps']", "4 is args['num_envs']")
def tensors_without_names():
    args = {"num_envs": 4, "num_steps": 16}
    return (lambda: torch.zeros(64))() * (lambda: torch.zeros(args["num_envs"]))()  # here


@raises("M024 entropy", "ENT430", "entropy is (64, 3)", "valid is (64,)", ".sum(-1)", text_too=False)
def entropy_of_each_part():
    valid = torch.ones(64)
    entropy = Categorical(logits=nn.Linear(4, 2)(torch.zeros(64, 3, 4))).entropy()
    return (entropy * valid).mean()  # here


@raises("M024 column", "NET401", "squeeze(-1)", "value is (5, 1)")
def column_meets_row():
    values, value = torch.zeros(16, 5), torch.zeros(5, 1)
    values[0] = value  # here


# ── M025 ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@raises(
    "M025 another environment", "NET402", "6 is env.observation_space", "4 is in_features of policy.0", text_too=False
)
def first_layer_for_another_environment():
    env, policy = gym.make("Acrobot-v1"), mlp(4, 16, 3)
    obs, _ = env.reset(seed=0)
    return policy(torch.as_tensor(obs))  # here


@raises("M025 transposed", "PRE401", "fed with (4, 32)", "4 is env.observation_space")
def batch_transposed():
    env, policy = gym.make("CartPole-v1"), mlp(4, 16, 2)
    batch = torch.as_tensor(np.stack([env.reset(seed=seed)[0] for seed in range(32)], axis=1))
    return policy(batch)  # here


@raises("M025 flattened image", "NET402", "the weight of this Linear is (2, 32)", text_too=False)
def size_after_convolution():
    network = Pixels()
    return network(torch.zeros(1, 4, 21, 21))


@raises("M025 action left out", "PRE401", "fed with (5, 3)", "5 is in_features of critic.net.0", text_too=False)
def action_left_out():
    critic = Critic(3, 2)
    return critic.net(torch.zeros(5, 3))  # here


# ── M026, M027 ──────────────────────────────────────────────────────────────────────────────────────────────────────


@raises("M026 double", "PRE402", "float64", "torch.float32", "a Linear was fed with (4,)")
def float64_observation():
    policy, obs = mlp(4, 16, 2), np.zeros(4)
    return policy(torch.as_tensor(obs))  # here


@raises("M026 long", "PRE402", "int64", "torch.float32")
def integer_observation():
    policy, state = nn.Linear(1, 4), torch.tensor([[3]])  # here
    return policy(state)


@raises("M026 scalar type", "PRE402", "weights is (5, 3, 2) float64")
def products_of_two_dtypes():
    states, weights = torch.zeros(5, 2, 3), torch.zeros(5, 3, 2, dtype=torch.float64)
    return torch.bmm(states, weights)  # here


@raises("M027 bytes", "PRE402", "uint8", "/ 255")
def image_of_bytes():
    network, frames = Pixels(), torch.zeros(1, 4, 7, 7, dtype=torch.uint8)  # here
    return network.conv(frames)


# ── M029 to M034 ────────────────────────────────────────────────────────────────────────────────────────────────────


@raises("M029 array", "PRE403", "obs is (4,) float64", "torch.as_tensor")
def array_into_a_layer():
    policy, obs = nn.Linear(4, 2), np.zeros(4)
    return policy(obs)  # here


@raises("M029 tuple", "ENV403", "obs", text_too=False)
def reset_into_a_layer():
    env, policy = gym.make("CartPole-v1"), nn.Linear(4, 2)
    obs = env.reset(seed=0)  # here
    return policy(obs)


@raises("M030", "BUF401", "actions is (8, 1) float32", "actions.long()")
def gather_of_floats():
    q_net, actions = nn.Linear(3, 2), torch.zeros(8, 1)
    return q_net(torch.zeros(8, 3)).gather(1, actions)  # here


@raises("M031", "BUF401", "actions is (8,) int64", "unsqueeze")
def gather_without_an_axis():
    q_values, actions = torch.zeros(8, 2), torch.zeros(8, dtype=torch.int64)
    return q_values.gather(1, actions)  # here


@raises("M031 batch", "BUF401", "q_values is (8, 2)", "actions is (9, 1)")
def gather_of_another_batch():
    q_values, actions = torch.zeros(8, 2), torch.zeros(9, 1, dtype=torch.int64)
    return torch.gather(q_values, 1, actions)  # here


@raises("M033", "BUF401", "batch['action'] is (8,) float32", "long()")
def one_hot_of_floats():
    batch = {"action": torch.zeros(8)}
    return F.one_hot(batch["action"], 2)  # here


@raises("M034", "BUF401", "done is (8,) float32", "bool()")
def floats_as_mask():
    values, done = torch.zeros(8), torch.zeros(8)
    values[done] = 0.0  # here


# ── M036 to M041 ────────────────────────────────────────────────────────────────────────────────────────────────────


@raises("M036 item", "ENV430", "action is (4,) int64", ".tolist()")
def item_of_several():
    action = torch.zeros(4, dtype=torch.int64)
    return action.item()  # here


@raises("M036 float", "ENV430", "reward is (4,) float32")
def float_of_several():
    reward = torch.zeros(4)
    return float(reward)  # here


@raises("M036 list of tensors", "ENV430", "torch.stack")
def tensor_of_tensors():
    log_probs = [torch.zeros(4), torch.zeros(4)]
    return torch.tensor(log_probs)  # here


@raises("M036 NumPy", "ENV430", "reward is (4,) float64")
def numpy_float_of_several():
    reward = np.zeros(4)
    return float(reward)  # here


@raises("M037", "ENV407", "done is (4,) bool", ".any()")
def flags_as_condition():
    done = torch.zeros(4, dtype=torch.bool)
    if done:  # here
        return True


@raises("M038", "BUF405", "episodes is a list of 2, of (3, 4) and (5, 4)", "pad")
def ragged_episodes():
    episodes = [torch.zeros(3, 4), torch.zeros(5, 4)]
    return torch.stack(episodes)  # here


@raises("M039", "BUF405", "log_probs is a list of 3", "torch.stack")
def scalars_concatenated():
    log_probs = [torch.zeros(()) for _ in range(3)]
    return torch.cat(log_probs)  # here


@raises("M040 in the network", "NET430", "obs is (8, 3)", "action is (4, 2)", "dim=-1")
def parts_of_two_batches():
    critic = Critic(3, 2)
    return critic(torch.zeros(8, 3), torch.zeros(4, 2))


@raises("M040 outside", "BUF405", "states is (8, 3)", "actions is (4, 2)")
def rows_of_two_batches():
    states, actions = torch.zeros(8, 3), torch.zeros(4, 2)
    return torch.cat([states, actions], dim=1)  # here


@raises("M041", "BUF430", "obs is (4, 16, 3)", ".reshape")
def flattened_after_transpose():
    rollout = Rollout()
    obs = rollout.obs.transpose(0, 1)
    return obs.view(-1, 3)  # here


# ── M042 to M050 ────────────────────────────────────────────────────────────────────────────────────────────────────


@raises("M042 LSTM", "NET404", "hidden", "8 is n_envs", "minibatch")
def state_of_other_rows():
    n_envs, minibatch = 8, 32
    memory, hidden = nn.LSTM(3, 16), (torch.zeros(1, n_envs, 16), torch.zeros(1, n_envs, 16))
    return memory(torch.zeros(1, minibatch, 3), hidden)  # here


@raises("M042 GRU cell", "NET404", "hidden is (8, 16)", "batch")
def cell_of_other_rows():
    memory, hidden = nn.GRUCell(3, 16), torch.zeros(8, 16)
    return memory(torch.zeros(5, 3), hidden)  # here


@raises("M043", "NET403", "obs is (1, 4)", "eval()")
def batch_norm_while_acting():
    policy, obs = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8)), torch.zeros(1, 4)
    return policy(obs)  # here


@raises("M045 dict", "ENV403", "obs", text_too=False)
def reset_into_a_tensor():
    obs = gym.make("CartPole-v1").reset(seed=0)  # here
    return torch.tensor(obs)


@raises("M045 None", "PRE403", "None was to become a tensor", "next_states", "1 - done")
def none_among_states():
    next_states = [0.0, None]
    return torch.tensor(next_states)  # here


@raises("M046", "PRE430", "obs is (4, 4)", ".copy()")
def flipped_image():
    obs = np.zeros((4, 4))[::-1]
    return torch.from_numpy(obs)  # here


@raises("M047", "PRE431", "obs is (3,)", ".copy()", warns=True)
def read_only_array():
    obs = np.broadcast_to(np.float32(0), 3)
    return torch.from_numpy(obs)  # here


@raises("M049 data", "GRA430", "state is (3,)", "detach().clone()", warns=True)
def tensor_of_a_tensor():
    state = torch.zeros(3)
    return torch.tensor(state)  # here


@raises("M049 graph", "GRA430", "loss lost its graph", warns=True)
def tensor_of_a_loss():
    loss = nn.Linear(3, 1)(torch.zeros(5, 3)).mean()
    return torch.tensor(loss, requires_grad=True)  # here


@raises("M050 function", "ACT431", "scores is (4,)", "dim=-1", warns=True)
def softmax_without_dim():
    scores = torch.zeros(4)
    return F.softmax(scores)  # here


@raises("M050 module", "ACT431", "dim=-1", warns=True)
def softmax_module_without_dim():
    policy = nn.Sequential(nn.Linear(3, 4), nn.Softmax())
    return policy(torch.zeros(5, 3))  # here


# ── relatives ───────────────────────────────────────────────────────────────────────────────────────────────────────


@raises("X310 channels last", "PRE404", "(1, 84, 84, 4)", "permute")
def channels_last():
    network, frames = Pixels(), torch.zeros(1, 84, 84, 4)
    return network.conv(frames)  # here


@raises("X311 one image", "PRE404", "(84, 84)")
def image_without_channels():
    network, frame = Pixels(), torch.zeros(84, 84)
    return network.conv(frame)  # here


@raises("X312 kernel", "PRE434", "(1, 4, 2, 2)", "smaller kernels")
def image_smaller_than_the_kernel():
    network = Pixels()
    return network.conv(torch.zeros(1, 4, 2, 2))  # here


@raises("X313 embedding", "PRE432", "it has 48 rows", "env.observation_space.n")
def state_beyond_the_embedding():
    table, state = nn.Embedding(48, 8), torch.tensor([48])
    return table(state)  # here


@raises("X314 embedding of floats", "PRE432", "float32", "int64")
def embedding_of_floats():
    table, state = nn.Embedding(48, 8), torch.zeros(2)
    return table(state)  # here


@raises("X315 LSTM input", "PRE401", "features is (1, 5, 4)", "3 is input_size of memory")
def recurrent_width():
    memory, features = nn.LSTM(3, 16), torch.zeros(1, 5, 4)
    return memory(features)  # here


@raises("X316 GRU axes", "NET433", "obs is (3,)", "obs.view(1, n_envs, -1)")
def recurrent_axes():
    memory, obs = nn.GRU(3, 16), torch.zeros(3)
    return memory(obs)  # here


@raises("X317 layer norm", "PRE401", "fed with (5, 4)")
def layer_norm_width():
    norm, obs = nn.LayerNorm(3), torch.zeros(5, 4)
    return norm(obs)  # here


@raises("X318 einsum", "NET434", "queries is (5, 7)", "keys is (5, 6)")
def einsum_of_two_widths():
    queries, keys = nn.Linear(3, 7)(torch.zeros(5, 3)), nn.Linear(3, 6)(torch.zeros(5, 3))
    return torch.einsum("bi,bi->b", queries, keys)  # here


@raises("X319 bmm", "NET434", "queries is (5, 2, 3)", "keys is (5, 4, 2)")
def attention_of_two_widths():
    queries, keys = nn.Linear(3, 3)(torch.zeros(5, 2, 3)), nn.Linear(2, 2)(torch.zeros(5, 4, 2))
    return torch.bmm(queries, keys)  # here


@raises("X320 gather beyond", "ACT404", "actions is (5, 1)", "action_space.n")
def action_beyond_the_outputs():
    q_values, actions = torch.zeros(5, 2), torch.full((5, 1), 2)
    return q_values.gather(1, actions)  # here


@raises("X321 class beyond", "ACT404", "experts is (5,)")
def class_beyond_the_outputs():
    logits, experts = torch.zeros(5, 2), torch.full((5,), 2)
    return F.cross_entropy(logits, experts)  # here


class Maze(gym.Env):
    observation_space, action_space = gym.spaces.Discrete(30), gym.spaces.Discrete(4)

    def reset(self, **_):
        return 0, {}

    def step(self, action):
        return 27, 0.0, False, False, {}


@raises(
    "X321 state beyond", "PRE470", "cell is 27", "size of 25", "world.observation_space.n, which is 30", text_too=False
)
def state_beyond_the_table():
    world, width = Maze(), 25
    cell, *_ = world.step(1)
    return F.one_hot(torch.as_tensor(cell), width)  # here


@raises("X321 action beyond", "ACT404", "action 3", "world.action_space.n, which is 4", text_too=False)
def action_beyond_a_narrow_head():
    world, scores = Maze(), nn.Linear(2, 3)(torch.zeros(6, 2))
    moves = torch.full((6, 1), world.action_space.n - 1)
    return scores.gather(1, moves)  # here


@raises("X321 atom beyond", "DIS470", "upper is 5", "clamp")
def atom_beyond_the_support():
    bins, weight = torch.zeros(2, 5), torch.full((2, 5), 0.2)
    upper = (torch.linspace(0, 4, 5) + 0.5).ceil().long().expand(2, 5)
    return bins.scatter_add_(1, upper, weight)  # here


@raises("X322 class of floats", "BUF401", "experts is (5,) float32", "long()")
def class_of_floats():
    logits, experts = torch.zeros(5, 2), torch.zeros(5)
    return F.cross_entropy(logits, experts)  # here


@raises("X323 class with an axis", "BUF401", "experts is (5, 1)")
def class_with_an_axis():
    logits, experts = torch.zeros(5, 2), torch.zeros(5, 1, dtype=torch.int64)
    return F.cross_entropy(logits, experts)  # here


@raises("X324 expand", "DIS430", "weights is (5, 1)", text_too=False)
def expanded_to_another_batch():
    weights, rows = torch.zeros(5, 1), torch.zeros(4, 3)
    return weights.expand(rows.shape[0], 3)  # here


@raises("X325 view", "BUF431", "batch is (12,)", "12", "4 is n_envs")
def reshaped_to_more():
    n_envs = 4
    batch = torch.zeros(12)
    return batch.view(5, n_envs)  # here


@raises("X326 NumPy reshape", "BUF431", "frames is (12,)")
def numpy_reshaped_to_less():
    frames = np.zeros(12)
    return frames.reshape(5, 2)  # here


@raises("X327 flat vector written back", "OPT430", "flat is (50,)", "policy has 110 parameters")
def flat_vector_too_short():
    policy, flat = nn.Linear(10, 10), torch.zeros(50)
    vector_to_parameters(flat, policy.parameters())  # here


@raises("X328 half precision", "NET432", "matrix is (3, 3) float16", ".float()")
def half_without_operation():
    matrix = torch.zeros(3, 3, dtype=torch.float16)
    return torch.linalg.svd(matrix)  # here


@raises("X329 flag", "DIS431", "done is (4,) bool", "1 - done.float()")
def flag_subtracted():
    done = torch.zeros(4, dtype=torch.bool)
    return 1 - done  # here


@raises("X330 NumPy flag", "DIS431", "terminated is (4,) bool")
def numpy_flag_subtracted():
    terminated, truncated = np.zeros(4, bool), np.zeros(4, bool)
    return terminated - truncated  # here


@raises("X331 in place", "DIS432", "returns is (3,) int64", "floats")
def returns_of_integers():
    returns = torch.tensor([1, 0, 1])
    returns += 0.99 * torch.ones(3)  # here


@raises("X332 NumPy in place", "DIS432", "frame is (2, 2) uint8", "floats")
def bytes_scaled_in_place():
    frame = np.zeros((2, 2), np.uint8)
    frame /= 255  # here


@raises("X333 mean", "ADV431", "rewards is (3,) int64", "dtype=torch.float32")
def mean_of_whole_rewards():
    rewards = torch.tensor([1, 0, 1])
    return rewards - rewards.mean()  # here


@raises("X334 std", "ADV431", "rewards is (3,) int64")
def std_of_whole_rewards():
    rewards = torch.tensor([1, 0, 1])
    return rewards / rewards.std()  # here


@raises("X335 axis", "PRE433", "logits is (2,)", "unsqueeze(0)")
def softmax_over_a_missing_axis():
    logits = torch.zeros(2)
    return F.softmax(logits, dim=1)  # here


@raises("X336 NumPy axis", "PRE433", "rewards is (16,)")
def sum_over_a_missing_axis():
    rewards = np.zeros(16)
    return rewards.sum(axis=1)  # here


@raises("X337 index", "PRE433", "obs is (3,)", "batch axis")
def index_of_a_missing_axis():
    obs = torch.zeros(3)
    return obs[:, 0]  # here


@raises("X338 permute", "PRE433", "frame is (84, 84, 3)", "unsqueeze(0)")
def permuted_without_a_batch():
    frame = torch.zeros(84, 84, 3)
    return frame.permute(0, 3, 1, 2)  # here


@raises("X339 mask", "BUF432", "done is (4,)", "values is (5, 3)")
def mask_of_other_rows():
    values, done = torch.zeros(5, 3), torch.zeros(4, dtype=torch.bool)
    return values[~done]  # here


@raises("X339 list of arrays", "PRF430", "batch is a list of 2", "np.array(batch)", warns=True)
def slow_conversion():
    batch = [np.zeros(3), np.zeros(3)]
    return torch.tensor(batch)  # here


@raises("X339 broadcast", "NET401", "value is (5, 1)", "target is (5,)", warns=True)
def loss_of_all_pairs():
    value, target = torch.zeros(5, 1), torch.zeros(5)
    return F.mse_loss(value, target)  # here


@raises("X339 loss", "VAL430", "value is (32,)", "target is (64,)", warns=True)
def loss_of_two_batches():
    value, target = torch.zeros(32), torch.zeros(64)
    return F.mse_loss(value, target)  # here


@raises("X339 inhomogeneous", "BUF405", "rows is a list of 2, of (3,) and (2,)")
def ragged_rows():
    rows = [np.zeros(3), np.zeros(2)]
    return np.array(rows)  # here


@raises("X339 flattened in the network", "NET431", "features is (1, 8, 3, 3)", "x.flatten(1)")
def flattened_in_the_network():
    class Fixed(Pixels):
        def forward(self, frames):
            features = self.conv(frames)
            return self.head(features.view(1, 32))  # here

    network = Fixed()
    return network(torch.zeros(1, 4, 7, 7))


# ── followed to the line that made it ───────────────────────────────────────────────────────────────────────────────


class Clock(gym.Wrapper):
    """Adds a number to the observation, and leaves the space as it was."""

    def __init__(self, env):
        super().__init__(env)

    def reset(self, **given):
        obs, info = self.env.reset(**given)
        return np.append(obs, 0.0).astype(np.float32), info

    def step(self, action):
        obs, *rest = self.env.step(action)
        return np.append(obs, 1.0).astype(np.float32), *rest


@raises("M025 wider than declared", "PRE407", "gives observations of (5,)", "says (4,)", "let Clock", text_too=False)
def observations_wider_than_declared():
    env = Clock(gym.make("CartPole-v1"))
    policy = nn.Linear(env.observation_space.shape[0], 2)
    obs, _ = env.reset(seed=0)
    policy(torch.from_numpy(obs))


@raises("M025 widened by hand", "PRE401", "(5,) float32")
def observations_widened_by_hand():
    env = gym.make("CartPole-v1")
    policy = nn.Linear(env.observation_space.shape[0], 2)
    obs, _ = env.reset(seed=0)
    obs = np.append(obs, 0.5).astype(np.float32)
    policy(torch.from_numpy(obs))  # here


@raises("M041 flat actions", "NET430", "an axis less", "unsqueeze(-1)", text_too=False)
def flat_actions_joined():
    class Critic(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Linear(4, 1)

        def forward(self, obs, act):
            return self.body(torch.cat([obs, act], dim=-1))

    def batch():
        obs = torch.zeros(6, 3)
        act = torch.tensor([0.1] * 6)  # here
        return obs, act

    obs, act = batch()
    Critic()(obs, act)


@raises("M042 one row", "NET404", "one of one row", "for 4 rows", text_too=False)
def state_of_one_row():
    memory, n_envs = nn.GRU(3, 16), 4
    state = torch.zeros(1, 1, 16).clone()  # here
    for _ in range(2):
        _, state = memory(torch.zeros(1, n_envs, 3), state)


@raises("M035 next values", "DIS430", "values without its first row", "last_value", text_too=False)
def next_values_without_the_last():
    rewards, values, dones = torch.zeros(8), torch.zeros(8), torch.zeros(8)
    following = values[1:]  # here
    return rewards + 0.99 * following * (1 - dones) - values


@raises("M032 below 0", "ACT404", "below the first output", "and not the action that it stands for", text_too=False)
def commands_for_outputs():
    q_net, chosen = nn.Linear(3, 3), torch.tensor([[-1], [0], [1]])
    return q_net(torch.zeros(3, 3)).gather(1, chosen)  # here


@raises("M078 features", "NET402", "gives 8 features", "features_dim says 6", text_too=False)
def features_that_are_not_declared():
    class Features(nn.Module):
        def __init__(self, features_dim):
            super().__init__()
            self._features_dim = features_dim
            self.body = nn.Sequential(nn.Linear(4, 8), nn.ReLU())  # here

        def forward(self, obs):
            return self.body(obs)

    extractor = Features(6)
    head = nn.Linear(extractor._features_dim, 2)
    return nn.Sequential(extractor, head)(torch.zeros(5, 4))


@raises("M063 predicted pair", "ACT403", "action is a pair", "action, _ =", text_too=False)
def predicted_pair_is_stepped():
    class Model:
        def predict(self, obs, deterministic=False):
            return np.array(1), None

    model, env = Model(), gym.make("CartPole-v1")
    obs, _ = env.reset(seed=0)
    action = model.predict(obs, deterministic=True)  # here
    env.step(action)


@pytest.mark.parametrize("case", cases_in(globals()), ids=lambda case: case.id)
def test_it_is_explained(case):
    check(case)
