"""Distributions and NaN: every text of torch.distributions and sampling that RL programs end with."""

from __future__ import annotations

import warnings

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import nn
from torch.distributions import Beta, Categorical, Independent, MultivariateNormal, Normal, TransformedDistribution
from torch.distributions.transforms import TanhTransform
from torch.nn import functional as F

from tests.errors.cases import cases_in, check, raises


class Gaussian(nn.Module):
    def __init__(self, obs_dim=3, act_dim=2):
        super().__init__()
        self.mean, self.spread = nn.Linear(obs_dim, act_dim), nn.Linear(obs_dim, act_dim)
        self.log_std = nn.Parameter(torch.zeros(act_dim))


class NanEnv(gym.Env):
    observation_space = gym.spaces.Box(-1, 1, (3,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def step(self, action):
        return np.full(3, np.nan, np.float32), 0.0, False, False, {}

    def reset(self, *, seed=None, options=None):
        return np.zeros(3, np.float32), {}


# ── M017 ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@raises("M017 observation from the environment", "PRE405", "obs", "test_distributions.py", text_too=False)
def nan_observation():
    env, policy = NanEnv(), nn.Linear(3, 2)
    obs, _ = env.reset()
    obs, *_ = env.step(0)
    logits = policy(torch.as_tensor(obs))
    return Categorical(logits=logits)  # here


@raises("M017 observation normalised by 0", "PRE405", "scaled", "by a standard deviation", "add 1e-8", text_too=False)
def constant_observation():
    policy, obs = Gaussian(), torch.ones(4, 3)
    scaled = (obs - obs.mean(0)) / obs.std(0)
    with torch.no_grad():
        mean = policy.mean(scaled)
    return Normal(mean, policy.log_std.exp())  # here


def update_on_one_sample(policy, optimizer):
    advantages = torch.ones(1)
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    loss = -(Categorical(logits=policy(torch.zeros(1, 3))).log_prob(torch.ones(1)) * advantages).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return advantages


@raises("M017 one sample", "ADV401", "advantages is NaN", "one element", text_too=False)
def one_sample():
    policy = nn.Linear(3, 2)
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
    advantages = update_on_one_sample(policy, optimizer)
    logits = policy(torch.zeros(8, 3))
    dist = Categorical(logits=logits)
    return dist, advantages


@raises("M017 episode of one step", "ADV401", "gain is NaN", "if gain.numel() > 1", text_too=False)
def episode_of_one_step():
    actor, episodes = nn.Linear(3, 2), (torch.rand(6), torch.ones(1), torch.rand(4))
    optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
    for reward in episodes:
        dist = Categorical(logits=actor(torch.ones(len(reward), 3)))
        gain = reward.flip(0).cumsum(0).flip(0)
        gain = (gain - gain.mean()) / (torch.std(gain) + 1e-6)  # here
        optimizer.zero_grad()
        (-dist.log_prob(dist.sample()) * gain).sum().backward()
        optimizer.step()


def squashed(head, obs):
    raw = Normal(head(obs), 1.0).rsample() * 40
    squeezed = raw.tanh()
    return squeezed, -torch.log(1 - squeezed**2).sum(-1)


@raises("M017 tanh saturates", "NET405", "infinity came first into density", "a logarithm", "clamp_min", text_too=False)
def saturated_tanh():
    torch.manual_seed(0)
    head = nn.Linear(3, 1)
    optimizer = torch.optim.Adam(head.parameters(), lr=1e-3)
    for _ in range(3):
        with torch.no_grad():
            squashed(head, torch.ones(1, 3))
        choice, density = squashed(head, torch.ones(64, 3))
        objective = (0.2 * density - choice.squeeze(-1)).mean()
        optimizer.zero_grad()
        objective.backward()
        optimizer.step()


@raises("M017 weights are NaN", "NET405", "2 of 2 weights of Linear are NaN", "NaN came first into loss", "a logarithm")
def log_of_zero():
    policy = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(policy.parameters(), lr=1e-3)
    obs = torch.ones(4, 3)
    loss = (0.0 * torch.log(policy(obs) * 0)).mean()
    loss.backward()
    optimizer.step()
    return Categorical(logits=policy(obs))  # here


@raises("M017 diverged", "OPT470", "learning rate 0.1", text_too=False)
def diverged():
    policy = Gaussian()
    optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)  # here
    for parameter in policy.parameters():
        parameter.grad = torch.full_like(parameter, torch.nan)
    optimizer.step()
    return Normal(policy.mean(torch.zeros(5, 3)), 1.0)


@raises("M017 network computes NaN", "NET405", "NaN came first into spread", "a square root", "clamp_min(1e-8).sqrt()")
def undefined_head():
    policy, obs = Gaussian(), torch.ones(5, 3)
    spread = (policy.spread(obs) - 10).sqrt()
    return Normal(policy.mean(obs), spread)  # here


@raises("M017 scale", "ACT401", "the scale of a Normal is not above 0", "std is (5, 2)", "softplus")
def plain_output_as_scale():
    policy, obs = Gaussian(), torch.ones(5, 3)
    mean, std = policy.mean(obs), -policy.spread(obs).abs()  # here
    return Normal(mean, std)


@raises("M017 log-std as std", "ACT401", "not above 0", "exp()")
def log_std_as_std():
    policy = Gaussian()
    return Independent(Normal(policy.mean(torch.zeros(5, 3)), policy.log_std), 1)  # here


@raises("M017 logits as probs", "ACT401", "no probabilities: scores", "Categorical(logits=")
def logits_as_probs():
    torch.manual_seed(0)
    scores = nn.Linear(3, 4)(torch.randn(16, 3))
    return Categorical(scores)  # here


@raises("M017 covariance", "ACT401", "covariance_matrix of a MultivariateNormal is not positive-definite", "cov")
def not_positive_definite():
    cov = -torch.eye(2)  # here
    return MultivariateNormal(torch.zeros(2), cov)


@raises("M017 concentration", "ACT401", "not above 0", "softplus")
def beta_of_zero():
    alpha = torch.relu(-torch.ones(5, 2))
    return Beta(alpha, alpha)  # here


@raises("M017 all masked", "ACT401", "no action is left: probs", "mask", text_too=False)
def probabilities_all_masked():
    mask = torch.zeros(2, 3)
    probs = torch.full((2, 3), 1 / 3) * mask  # here
    return Categorical(probs=probs)


# ── M018 ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@raises("M018 float action", "ACT402", "actions", "whole numbers from 0 to 1")
def float_action_in_categorical():
    dist, actions = Categorical(logits=torch.zeros(5, 2)), torch.full((5,), 0.5)
    return dist.log_prob(actions)  # here


@raises("M018 action counted from 1", "ACT402", "actions", "from 0 to 1")
def action_beyond_the_last():
    actions = torch.tensor([1, 2, 2])
    return Categorical(logits=torch.zeros(3, 2)).log_prob(actions)  # here


@raises("M018 scaled action", "ACT402", "scaled", "from 0.0 to 1.0")
def scaled_action_in_beta():
    dist = Beta(torch.ones(2), torch.ones(2))
    scaled = dist.sample() * 4 + 1
    return dist.log_prob(scaled)  # here


@raises("M018 beyond tanh", "ACT402", "action", "1e-6")
def action_beyond_tanh():
    dist = TransformedDistribution(Normal(torch.zeros(2), torch.ones(2)), [TanhTransform()])
    action = torch.full((2,), 1.5)
    return dist.log_prob(action)  # here


@raises("M018 NaN action", "ACT402", "action", "holding NaN")
def nan_action():
    action = torch.tensor([torch.nan, 0.0])
    return Normal(torch.zeros(2), 1.0).log_prob(action)  # here


# ── M019, M020, M022 ────────────────────────────────────────────────────────────────────────────────────────────────


@raises("M019 NaN", "NET405", "NaN came first into probs", text_too=False)
def multinomial_of_nan():
    policy = nn.Linear(3, 2)
    logits = policy(torch.ones(4, 3)) * 0 - torch.inf
    probs = F.softmax(logits, dim=-1)
    return torch.multinomial(probs, 1)  # here


@raises("M019 negative", "ACT401", "no probabilities: q_values", "softmax")
def multinomial_of_q_values():
    q_values = torch.tensor([[0.5, -0.5, 0.1]])
    return q_values.multinomial(1)  # here


@raises("M019 NumPy NaN", "NET405", "p is NaN", "an exponential", "subtract the maximum")
def choice_of_nan():
    rng = np.random.default_rng(0)
    with np.errstate(all="ignore"):
        p = np.exp(np.full(3, 1e4)) / np.exp(np.full(3, 1e4)).sum()
    return rng.choice(3, p=p)  # here


@raises("M019 NumPy sum", "ACT401", "do not sum to 1", "p /= p.sum()")
def choice_of_unnormalised():
    p = np.array([0.3, 0.3, 0.3])
    return np.random.default_rng(0).choice(3, p=p)  # here


@raises("M020", "ACT401", "no action is left", "probs", "each row of the mask")
def nothing_allowed():
    mask = torch.zeros(4, 3)
    probs = F.softmax(torch.zeros(4, 3), dim=-1) * mask
    return torch.multinomial(probs, 1)  # here


_ASSERT = """CUDA error: device-side assert triggered
CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.
For debugging consider passing CUDA_LAUNCH_BLOCKING=1
Device-side assertion tracking was not enabled by user."""


@raises("M022 later", "ACT430", "CUDA_LAUNCH_BLOCKING=1", "the one at fault", only_text=True)
def later_on_gpu():
    loss = torch.zeros(())
    assert loss == 0
    raise torch.AcceleratorError(_ASSERT) if hasattr(torch, "AcceleratorError") else RuntimeError(_ASSERT)  # here


# ── relatives ───────────────────────────────────────────────────────────────────────────────────────────────────────


@raises("X300 action of another shape", "ACT433", "actions is (5, 3)", "batch_shape")
def log_prob_of_other_actions():
    dist, actions = Normal(torch.zeros(5, 2), torch.ones(2)), torch.zeros(5, 3)
    return dist.log_prob(actions)  # here


@raises("X301 mean and std", "ACT433", "mean is (5, 2)", "std is (3,)")
def parameters_of_two_widths():
    mean, std = torch.zeros(5, 2), torch.ones(3)
    return Normal(mean, std)  # here


@raises("X302 too many axes for Independent", "ACT433", "mean is (5,)")
def independent_without_an_axis():
    mean = torch.zeros(5)
    return Independent(Normal(mean, 1.0), 2)  # here


@raises("X303 mask of floats", "ACT432", "mask is (4, 3) float32", "mask.bool()")
def float_mask():
    logits, mask = torch.zeros(4, 3), torch.ones(4, 3)
    return logits.masked_fill(mask, -1e9)  # here


@raises("X303 flags of a batch", "BUF433", "solved is (64,) float32", "done.bool()", text_too=False)
def float_flags():
    values, solved = torch.zeros(64), torch.zeros(64)
    return values.masked_fill(solved, 0.0)  # here


@raises("X304 condition of floats", "ACT432", "mask is (4, 3) float32", "mask.bool()")
def float_condition():
    logits, mask = torch.zeros(4, 3), torch.ones(4, 3)
    return torch.where(mask, logits, torch.full_like(logits, -1e9))  # here


@raises("X305 mask in half precision", "ACT432", "torch.finfo(logits.dtype).min")
def half_mask():
    logits, mask = torch.zeros(4, 3).half(), torch.ones(4, 3)
    return logits.masked_fill(mask.bool(), -1e9)  # here


@raises("X306 std of one", "ADV401", "returns is (1,)", warns=True)
def std_of_one():
    returns = torch.ones(1)
    return returns / returns.std()  # here


@raises("X307 NumPy std of one", "ADV401", "adv is (1,)", warns=True)
def numpy_std_of_one():
    adv = np.ones(1)
    return adv.std(ddof=1)


@raises("X308 choice of other sizes", "ACT433", "p is (2,)", "number of actions")
def choice_of_other_sizes():
    p = np.array([0.5, 0.5])
    return np.random.default_rng(0).choice(3, p=p)  # here


@raises("X309 cholesky", "ACT401", "not positive-definite", "covariance", "diagonal")
def cholesky_of_covariance():
    covariance = -torch.eye(3)
    return torch.linalg.cholesky(covariance)  # here


@pytest.mark.parametrize("case", cases_in(globals()), ids=lambda case: case.id)
def test_it_is_explained(case):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(case)
