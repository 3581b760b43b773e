"""TRPO: the Fisher matrix, the natural gradient, the line search and the promises, against definitions written out."""

import json
import math
import re
from itertools import pairwise

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium import spaces
from torch import nn

import rldebug
from rldebug.algos import trpo
from rldebug.algos.trpo import Critic, Policy, Settings, Trend, broken_promises, conjugate_gradient, flat, write
from rldebug.checkpoint import TrainingError
from rldebug.parts.normalise import RunningNorm

SMALL = Settings(hidden=(5,))
OBS = spaces.Box(-np.inf, np.inf, (3,), np.float32)
ACTIONS = {"discrete": spaces.Discrete(3), "continuous": spaces.Box(-1.0, 1.0, (2,), np.float32)}
ROWS = 24


def problem(kind, seed=0, settings=SMALL):
    """A policy whose last layer is not 0, in float64, with observations, actions of its own, and advantages."""
    torch.manual_seed(seed)
    policy = Policy(OBS, ACTIONS[kind], settings).double()
    with torch.no_grad():
        for parameter in policy.parameters():
            parameter += 0.3 * torch.randn_like(parameter)
    obs = torch.randn(ROWS, 3, dtype=torch.float64)
    with torch.no_grad():
        action = policy(obs).sample()
    return policy, list(policy.parameters()), obs, action, torch.randn(ROWS, dtype=torch.float64)


def log_prob_gradients(policy, parameters, obs, action):
    """One row of ∇ log π(a|s) per observation, by a loop."""
    rows = []
    for i in range(len(obs)):
        logp = policy(obs[i : i + 1]).log_prob(action[i : i + 1]).sum()
        rows.append(flat(torch.autograd.grad(logp, parameters)))
    return torch.stack(rows)


def fisher_matrix(policy, parameters, obs, kind):
    """E over states of E over actions of ∇ log π ∇ log πᵀ: by enumeration, or from the closed form of a Gaussian."""
    size = sum(parameter.numel() for parameter in parameters)
    total = torch.zeros(size, size, dtype=torch.float64)
    if kind == "discrete":
        for choice in range(3):
            action = torch.full((len(obs),), choice)
            probability = policy(obs).log_prob(action).exp().detach()
            gradient = log_prob_gradients(policy, parameters, obs, action)
            total += torch.einsum("n,ni,nj->ij", probability, gradient, gradient)
        return total / len(obs)
    for i in range(len(obs)):
        there = policy(obs[i : i + 1])
        for d in range(2):
            log_std = there.log_std.expand(1, 2)[0, d]
            mean = flat(torch.autograd.grad(there.mean[0, d], parameters, retain_graph=True, materialize_grads=True))
            std = flat(torch.autograd.grad(log_std, parameters, retain_graph=True, materialize_grads=True))
            total += mean.outer(mean) * (-2 * log_std).exp().detach() + 2 * std.outer(std)
    return total / len(obs)


def exact_kl(old, new, kind):
    """Mean KL(old ‖ new), by torch.distributions, from copies of the numbers."""
    if kind == "discrete":
        made = [torch.distributions.Categorical(logits=logits) for logits in (old, new)]
        return float(torch.distributions.kl_divergence(*made).mean())
    made = [torch.distributions.Normal(mean, log_std.exp()) for mean, log_std in (old, new)]
    return float(torch.distributions.kl_divergence(*made).sum(-1).mean())


def numbers_of(distribution, kind):
    """Copies: nothing that the step does later can change them."""
    if kind == "discrete":
        return distribution.logits.detach().clone()
    return distribution.mean.detach().clone(), distribution.log_std.detach().clone()


# ── flat parameters ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_flat_parameters_are_read_and_written_in_the_same_order():
    policy, parameters, *_ = problem("continuous")
    before = flat(parameters).detach()
    assert before.tolist() == [x for parameter in parameters for x in parameter.detach().flatten().tolist()]
    write(parameters, torch.arange(float(len(before)), dtype=torch.float64))
    assert flat(list(policy.parameters())).tolist() == list(range(len(before)))
    write(parameters, before)
    assert torch.equal(flat(parameters), before)


def test_flat_values_of_another_list_are_refused():
    _, parameters, *_ = problem("discrete")
    critic = Critic(OBS, SMALL).double()
    with pytest.raises(RuntimeError, match="split"):
        write(parameters, flat([*parameters, *critic.parameters()]))


def test_what_was_detached_before_does_not_change_with_what_is_written():
    policy, parameters, obs, *_ = problem("continuous")
    old = policy(obs).detach()
    log_std = old.log_std.clone()
    write(parameters, flat(parameters).detach() + 1.0)
    assert torch.equal(old.log_std, log_std)
    assert torch.equal(policy(obs).log_std, log_std + 1.0)


# ── the natural gradient ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("damping", [0.0, 0.1])
@pytest.mark.parametrize("kind", ACTIONS)
def test_fisher_vector_product_is_that_of_the_whole_matrix(kind, damping):
    policy, parameters, obs, *_ = problem(kind)
    new = policy(obs)
    product = trpo.fisher_vector_product(new.detach().kl(new).mean(), parameters, damping)
    matrix = fisher_matrix(policy, parameters, obs, kind) + damping * torch.eye(
        len(flat(parameters)), dtype=torch.float64
    )
    for _ in range(3):
        vector = torch.randn(len(matrix), dtype=torch.float64)
        torch.testing.assert_close(product(vector), matrix @ vector)


def test_conjugate_gradient_solves():
    torch.manual_seed(0)
    half = torch.randn(8, 8, dtype=torch.float64)
    matrix, b = half @ half.T + torch.eye(8, dtype=torch.float64), torch.randn(8, dtype=torch.float64)
    x = conjugate_gradient(lambda vector: matrix @ vector, b, rounds=8)
    torch.testing.assert_close(x, torch.linalg.solve(matrix, b), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_conjugate_gradient_goes_on_after_the_solution_is_found(dtype):
    """A multiple of the identity is solved in one round; the nine after it have nothing left to divide by."""
    b = torch.tensor([1.0, -2.0, 3.0], dtype=dtype)
    torch.testing.assert_close(conjugate_gradient(lambda vector: 2.0 * vector, b, rounds=10), b / 2)
    assert conjugate_gradient(lambda vector: 2.0 * vector, torch.zeros(3), rounds=10).tolist() == [0.0] * 3


@pytest.mark.parametrize("kind", ACTIONS)
def test_the_step_goes_along_the_natural_gradient(kind):
    settings = Settings(hidden=(5,), max_kl=1e-8, cg_steps=60, damping=1e-3)
    policy, parameters, obs, action, advantage = problem(kind)
    before = flat(parameters).detach()
    # The policy gradient by its definition, E[A ∇ log π], and the Fisher matrix as a whole.
    gradient = (advantage[:, None] * log_prob_gradients(policy, parameters, obs, action)).mean(0)
    matrix = fisher_matrix(policy, parameters, obs, kind) + 1e-3 * torch.eye(len(before), dtype=torch.float64)
    expected = torch.linalg.solve(matrix, gradient)
    expected *= (2 * settings.max_kl / (expected @ matrix @ expected)).sqrt()
    step = trpo.trust_region_step(policy, parameters, obs, action, advantage, settings)
    assert (step.accepted, step.tries) == (True, 1)
    torch.testing.assert_close(flat(parameters).detach() - before, expected, rtol=1e-4, atol=1e-9)


# ── the line search ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("limit", [1e-3, 0.01, 2.0])
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("kind", ACTIONS)
def test_the_accepted_step_is_within_the_limit_and_an_improvement(kind, seed, limit):
    policy, parameters, obs, action, advantage = problem(kind, seed)
    before = policy(obs)
    old, logp = numbers_of(before, kind), before.log_prob(action).detach().clone()
    step = trpo.trust_region_step(policy, parameters, obs, action, advantage, Settings(hidden=(5,), max_kl=limit))
    after = policy(obs).detach()
    kl = exact_kl(old, numbers_of(after, kind), kind)
    assert step.accepted
    assert 0 < kl <= limit
    assert float(step.kl) == pytest.approx(kl, rel=1e-6)
    ratio = (after.log_prob(action) - logp).exp()
    assert float((ratio * advantage).mean()) > float(advantage.mean())
    told = trpo.moved(after, step.old, logp, action, advantage)[1]
    assert float(told) == pytest.approx(float((ratio * advantage).mean() - advantage.mean()), rel=1e-6)
    if kind == "continuous":
        assert not torch.equal(numbers_of(after, kind)[1], old[1]), (
            "the deviation takes part in the step, and in the KL"
        )


def test_a_step_too_long_is_shortened():
    """Far from the old policy the KL is not quadratic: the first length is too long, and is not taken."""
    settings = Settings(hidden=(5,), max_kl=2.0, damping=1e-3, tries=20)
    policy, parameters, obs, action, advantage = problem("continuous")
    step = trpo.trust_region_step(policy, parameters, obs, action, advantage, settings)
    assert step.accepted
    assert 1 < step.tries < 20
    assert float(step.kl) <= 2.0


@pytest.mark.parametrize("spoilt", ["uphill", "no advantage", "nan"])
def test_a_step_that_does_not_improve_is_taken_back(spoilt, monkeypatch):
    policy, parameters, obs, action, advantage = problem("continuous")
    if spoilt == "uphill":
        monkeypatch.setattr(trpo, "conjugate_gradient", lambda product, b, rounds: -b)
    else:
        advantage = torch.zeros_like(advantage) if spoilt == "no advantage" else advantage * math.nan
    before = flat(parameters).detach().clone()
    step = trpo.trust_region_step(policy, parameters, obs, action, advantage, SMALL)
    assert not step.accepted
    assert step.tries == SMALL.tries
    assert float(step.kl) == 0.0
    assert torch.equal(flat(parameters), before), "bit for bit the old policy"


# ── promises ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("accepted", "kl", "improvement", "told"),
    [
        (True, 0.01, 0.02, []),
        (False, 0.0, 0.0, []),
        (True, 0.02, 0.02, ["KL(old ‖ new) of the accepted step is 0.02, above the limit of 0.01"]),
        (True, 0.005, -0.5, ["the accepted step made the surrogate worse, by 0.5"]),
        (False, 0.3, 0.1, ["the step was rejected, but the policy has changed: KL(old ‖ new) is 0.3"]),
        (
            True,
            math.nan,
            math.nan,
            ["KL(old ‖ new) of the accepted step is nan", "the accepted step made the surrogate"],
        ),
    ],
    ids=["kept", "rejected", "too far", "worse", "not put back", "nan"],
)
def test_promises(accepted, kl, improvement, told):
    found = broken_promises(accepted, kl, improvement, 0.01)
    assert len(found) == len(told)
    assert all(line.startswith(start) for line, start in zip(found, told, strict=True))


def test_trend_is_the_difference_of_two_halves():
    trend = Trend()
    for i in range(50):
        trend.add([(float(i), 7), (i + 2.0, 9)])
        trend.add([])  # an iteration in which no episode ended says nothing
        kept = [k + 1.0 for k in range(max(0, i - 19), i + 1)]
        half = len(kept) // 2
        assert trend.rise() == pytest.approx(0.0 if half < 2 else np.mean(kept[-half:]) - np.mean(kept[:half]))
    again = Trend()
    again.load_state_dict(trend.state_dict())
    assert again.rise() == trend.rise()


# ── training ────────────────────────────────────────────────────────────────────────────────────────────────────────

TINY = {"envs": 2, "steps": 24, "hidden": "8", "value_epochs": 2, "value_minibatch": 16}


class Walk(gym.Env):
    """Five steps of whatever the spaces are; the reward is for the first action, or for a large one."""

    def __init__(self, observation_space, action_space, scale=1.0):
        self.observation_space, self.action_space, self.scale = observation_space, action_space, scale

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        if seed is not None:
            self.observation_space.seed(seed)
        self.clock = 0
        return self._look(), {}

    def step(self, action):
        self.clock += 1
        good = float(np.mean(np.asarray(action))) if isinstance(self.action_space, spaces.Box) else float(action == 0)
        return self._look(), good, self.clock == 5 and self.np_random.random() < 0.5, self.clock == 5, {}

    def _look(self):
        seen = self.observation_space.sample()
        return seen * np.float32(self.scale) if self.scale != 1.0 else seen


def trained(make, folder=None, iterations=3, quiet=True, **settings):
    chosen = {**TINY, **settings}
    steps = iterations * int(chosen["envs"]) * int(chosen["steps"])
    return rldebug.train("trpo", make, steps=steps, settings=chosen, folder=folder, quiet=quiet, episodes=1)


def lines(folder):
    return [json.loads(line) for line in (folder / "progress.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(
    ("observation", "action"),
    [
        (OBS, spaces.Discrete(3)),
        (OBS, spaces.Box(-1.0, 1.0, (2,), np.float32)),
        (spaces.Dict({"place": OBS, "kind": spaces.Discrete(3)}), spaces.Discrete(2)),
        (spaces.Box(0, 255, (8, 8, 1), np.uint8), spaces.Discrete(2)),
        (spaces.Discrete(4), spaces.Box(-1.0, 1.0, (1,), np.float32)),
    ],
    ids=["discrete", "continuous", "dict", "image", "choice"],
)
def test_every_iteration_keeps_its_promises(observation, action, tmp_path, capsys):
    trained(lambda: Walk(observation, action), tmp_path)
    seen = lines(tmp_path)
    assert len(seen) == 3
    for line in seen:
        assert 0.0 <= line["kl"] <= 0.01
        assert (line["accepted"] == 1.0) == (line["kl"] > 0) == (line["improvement"] > 0)
        assert math.isfinite(line["value_loss"])
        assert math.isfinite(line["return"])
    assert any(line["accepted"] for line in seen)
    assert "warning" not in capsys.readouterr().err


def test_a_line_for_every_iteration(capsys):
    trained(lambda: gym.make("CartPole-v1"), quiet=False)
    told = " ".join(capsys.readouterr().err.split())
    assert len(re.findall(r"iteration \d+: [\d ]+ steps · return [-\d. ]+ · kl [-\d.e]+ ·", told)) == 3


def test_a_broken_promise_is_said(monkeypatch, capsys):
    real = trpo.trust_region_step

    def too_far(policy, parameters, *rest):
        step = real(policy, parameters, *rest)
        write(parameters, flat(parameters).detach() + torch.linspace(-1.0, 1.0, len(flat(parameters))))
        return step

    monkeypatch.setattr(trpo, "trust_region_step", too_far)
    trained(lambda: gym.make("CartPole-v1"), iterations=1)
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith("warning: trpo, iteration 1: ")]
    assert any("above the limit of 0.01" in line for line in told)


def test_the_critic_is_fitted_and_the_policy_left_alone(monkeypatch):
    """What the policy's step leaves behind is what the next iteration acts with, and the critic moved in between."""
    real, policies, critics = trpo.trust_region_step, [], []

    class Seen(Critic):
        def __init__(self, *given):
            super().__init__(*given)
            critics.append(self)

    def step(policy, parameters, *rest):
        start, critic = flat(parameters).detach().clone(), flat(list(critics[0].parameters())).detach().clone()
        made = real(policy, parameters, *rest)
        assert torch.equal(flat(list(critics[0].parameters())), critic)
        policies.append((start, flat(parameters).detach().clone(), critic))
        return made

    monkeypatch.setattr(trpo, "trust_region_step", step)
    monkeypatch.setattr(trpo, "Critic", Seen)
    trained(lambda: gym.make("CartPole-v1"))
    for (_, left, critic), (found, _, critic_after) in pairwise(policies):
        assert torch.equal(left, found)
        assert not torch.equal(critic, critic_after)


def test_the_value_loss_is_that_of_all_minibatches(monkeypatch, tmp_path):
    real, made = trpo.gae, []

    def gae(reward, value, *rest, **named):
        advantage, target = real(reward, value, *rest, **named)
        made.append((value, target))
        return advantage, target

    monkeypatch.setattr(trpo, "gae", gae)
    trained(lambda: gym.make("CartPole-v1"), tmp_path, value_lr=0.0)  # a critic that stays: every pass sees the same
    for line, (value, target) in zip(lines(tmp_path), made, strict=True):
        assert line["value_loss"] == pytest.approx(float((value - target).square().mean()), rel=1e-4)


def test_acting_and_learning_see_the_same_normalised_observations(monkeypatch):
    real, acted, learned = Policy.forward, [], []

    def forward(self, obs):
        (acted if torch.is_inference_mode_enabled() else learned).append(obs.clone())
        return real(self, obs)

    monkeypatch.setattr(Policy, "forward", forward)
    trained(lambda: Walk(spaces.Box(0.0, 1.0, (3,), np.float32), spaces.Discrete(2), scale=1e4), iterations=2)
    first, second = torch.cat(acted[:24]), torch.cat(acted[24:48])
    assert float(first.max()) > 1e3, "there are no statistics yet"
    assert float(second.abs().max()) <= 5.0
    assert float(second.mean().abs()) < 0.5
    batches = {tuple(batch.flatten().tolist()) for batch in learned}
    assert batches == {tuple(first.flatten().tolist()), tuple(second.flatten().tolist())}


@pytest.mark.parametrize("normalise", [True, False])
def test_only_vectors_are_normalised(normalise, monkeypatch):
    updates = []
    monkeypatch.setattr(RunningNorm, "update", lambda self, x: updates.append(x.shape))
    trained(lambda: gym.make("CartPole-v1"), iterations=1, normalise_obs=normalise)
    assert updates == ([(48, 4)] if normalise else [])
    trained(lambda: Walk(spaces.Box(0, 255, (8, 8, 1), np.uint8), spaces.Discrete(2)), iterations=1)
    assert len(updates) == normalise


def test_policy_and_critic_share_no_parameter():
    policy, critic = Policy(OBS, ACTIONS["continuous"], SMALL), Critic(OBS, SMALL)
    assert not {id(each) for each in policy.parameters()} & {id(each) for each in critic.parameters()}
    assert any(isinstance(each, nn.Parameter) and each.shape == (2,) for each in policy.parameters()), "the deviation"
    assert critic(torch.zeros(4, 3)).shape == (4,)


def test_a_step_that_cannot_be_is_refused():
    with pytest.raises(TrainingError, match=r"max_kl is 0\.0, expected above 0"):
        trained(lambda: gym.make("CartPole-v1"), max_kl=0.0)
