"""A2C: its updates against the formulas written out over what was played, its optimizer against torch's."""

import copy

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium import spaces
from torch import nn

import rldebug
from rldebug.algos import a2c
from rldebug.algos.a2c import FlatRMSprop
from rldebug.checkpoint import TrainingError
from rldebug.training import Training


class Walk(gym.Env):
    """A random walk that ends at ±1.5 or after four steps, or both at once. Remembers all that was played on it."""

    observation_space = spaces.Box(-np.inf, np.inf, (2,), np.float32)
    action_space = spaces.Discrete(3)

    def __init__(self):
        self.played = []  # obs, action, reward, terminated, truncated, the observation that it led to

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at, self.clock = float(self.np_random.normal()) / 2, 0
        return self.obs(), {}

    def step(self, action):
        before = self.obs()
        self.at += 0.5 * (int(action) - 1) + 0.1 * float(self.np_random.normal())
        self.clock += 1
        terminated, truncated = abs(self.at) > 1.5, self.clock == 4
        self.played.append((before, int(action), self.at, terminated, truncated, self.obs()))
        return self.obs(), self.at, terminated, truncated, {}

    def obs(self):
        return np.array([self.at, self.clock / 4], np.float32)


def play(algorithm, settings, updates, monkeypatch, **options):
    """A short run on `Walk`: what a checkpoint would hold, a copy of it from before the run, what each env played."""
    made, found = [], {}
    begin = Training.begin

    def spy(self, **kept):
        found["kept"], found["before"], found["envs"] = kept, copy.deepcopy(kept), list(made)
        return begin(self, **kept)

    def make():
        made.append(Walk())
        return made[-1]

    monkeypatch.setattr(Training, "begin", spy)
    steps = updates * settings["envs"] * settings["steps"]
    rldebug.train(algorithm, make, steps=steps, settings=settings, quiet=True, episodes=1, **options)
    return found["kept"], found["before"], [each.played for each in found["envs"]]


def credit(played, value, gamma, lam):
    """GAE from its definition, for the steps of one environment: errors until the episode or the data end, by (γλ)ᵏ."""
    advantages = []
    for t in range(len(played)):
        total, weight = 0.0, 1.0
        for obs, _, reward, terminated, truncated, after in played[t:]:
            total += weight * (reward + (0.0 if terminated else gamma * value(after)) - value(obs))
            weight *= gamma * lam
            if terminated or truncated:
                break
        advantages.append(total)
    return advantages


def number(function):
    """Of one observation, as a plain number."""

    def of(obs):
        with torch.no_grad():
            return float(function(torch.from_numpy(obs)[None]))

    return of


def rows(played):
    steps = [step for env in played for step in env]
    return torch.from_numpy(np.stack([each[0] for each in steps])), torch.tensor([each[1] for each in steps])


def equal_weights(one, other, atol):
    for (name, mine), theirs in zip(one.state_dict().items(), other.state_dict().values(), strict=True):
        torch.testing.assert_close(mine, theirs, atol=atol, rtol=0, msg=lambda text, name=name: f"{name}: {text}")


@pytest.mark.parametrize(
    "change",
    [{}, {"lam": 0.8, "entropy_coef": 0.1}, {"normalise_advantage": True, "steps": 1}, {"max_grad_norm": 1e-3}],
    ids=["as-sb3", "gae-entropy", "normalised-one-step", "clipped"],
)
def test_every_update_is_the_formula_written_out(change, monkeypatch):
    updates = 10
    given = {"envs": 3, "steps": 7, "hidden": (8,), **change}
    kept, before, played = play("a2c", given, updates, monkeypatch_iteration(monkeypatch))
    settings, model = a2c.Settings(**given), before["model"]
    optimizer = torch.optim.RMSprop(model.parameters(), lr=7e-4, alpha=0.99, eps=1e-5)
    for update in range(updates):
        now = [env[update * settings.steps : (update + 1) * settings.steps] for env in played]
        value = number(model.critic)
        advantage = torch.tensor([each for env in now for each in credit(env, value, 0.99, settings.lam)])
        obs, action = rows(now)
        value = model.critic(obs)
        target = advantage + value.detach()
        if settings.normalise_advantage:
            advantage = (advantage - advantage.mean()) / advantage.std()
        log_probs = torch.log_softmax(model.policy(obs).logits, -1)
        logp = log_probs[torch.arange(len(obs)), action]
        entropy = -(log_probs.exp() * log_probs).sum(-1)
        loss = (-logp * advantage + 0.5 * (value - target) ** 2 - settings.entropy_coef * entropy).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), settings.max_grad_norm)
        optimizer.step()
    assert any(step[4] and not step[3] for env in played for step in env)  # both kinds of endings were there
    assert any(step[3] for env in played for step in env)
    equal_weights(kept["model"], model, atol=2e-5)


def monkeypatch_iteration(monkeypatch):
    """An iteration per update, so that a run can be as short as one."""
    monkeypatch.setattr(a2c, "ITERATION", 1)
    return monkeypatch


def test_normalisation_has_seen_every_observation_once(monkeypatch):
    given = {"envs": 2, "steps": 5, "hidden": (8,), "normalise_obs": True, "scale_reward": True}
    kept, _, played = play("a2c", given, 4, monkeypatch_iteration(monkeypatch))
    obs, _ = rows(played)
    assert kept["model"].norm.count == len(obs) == 40
    torch.testing.assert_close(kept["model"].norm.mean.float(), obs.mean(0))
    torch.testing.assert_close(kept["model"].norm.var.float(), obs.var(0, correction=0))
    assert kept["scale"].count == 40


def networks():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2))
    return net, copy.deepcopy(net)


def steps(net, zero_grad, step, count=5):
    for i in range(count):
        zero_grad()
        x = torch.linspace(-1, 1, 12).reshape(4, 3) + i
        (net(x) * 3.0 ** (2 - i)).square().mean().backward()  # large gradients first, tiny ones last
        step()


@pytest.mark.parametrize("limit", [1e-2, 1.0, 1e6], ids=["always-clipped", "sometimes", "never"])
def test_the_flat_optimizer_is_clipping_and_rmsprop(limit):
    net, twin = networks()
    flat = FlatRMSprop(net.parameters(), lr=1e-2, alpha=0.9, eps=1e-5, max_grad_norm=limit)
    plain = torch.optim.RMSprop(twin.parameters(), lr=1e-2, alpha=0.9, eps=1e-5)

    def clip_and_step():
        nn.utils.clip_grad_norm_(twin.parameters(), limit)
        plain.step()

    steps(net, flat.zero_grad, flat.step)
    steps(twin, plain.zero_grad, clip_and_step)
    equal_weights(net, twin, atol=1e-6)
    for mine, theirs in zip(net.parameters(), twin.parameters(), strict=True):
        torch.testing.assert_close(mine.grad, theirs.grad, atol=1e-6, rtol=1e-5)


def test_the_flat_optimizer_goes_on_from_its_state():
    net, twin = networks()
    options = {"lr": 1e-2, "alpha": 0.9, "eps": 1e-5, "max_grad_norm": 1.0}
    one = FlatRMSprop(net.parameters(), **options)
    steps(net, one.zero_grad, one.step)
    weights, state = copy.deepcopy(net.state_dict()), copy.deepcopy(one.state_dict())
    other = FlatRMSprop(twin.parameters(), **{**options, "lr": 1.0})
    twin.load_state_dict(weights)
    other.load_state_dict(state)
    for each, optimizer in ((net, one), (twin, other)):
        steps(each, optimizer.zero_grad, optimizer.step)
    equal_weights(net, twin, atol=0)
    assert torch.equal(other.weights, torch.cat([each.detach().flatten() for each in twin.parameters()]))


class Drawn(gym.Env):
    """Observations drawn from any space; at every step a reward, now and then an ending of either kind, or of both."""

    def __init__(self, observation_space, action_space):
        self.observation_space, self.action_space = observation_space, action_space

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        if seed is not None:
            self.observation_space.seed(seed)
        return self.observation_space.sample(), {}

    def step(self, action):
        assert self.action_space.contains(action), action
        ends = self.np_random.random(2) < 0.2
        return self.observation_space.sample(), float(self.np_random.random()), bool(ends[0]), bool(ends[1]), {}


VECTOR = spaces.Box(-1.0, 1.0, (3,), np.float32)
SPACES = {
    "discrete": (VECTOR, spaces.Discrete(3, start=1)),
    "continuous": (VECTOR, spaces.Box(-2.0, 1.0, (2,), np.float32)),
    "multi-discrete": (spaces.Discrete(4), spaces.MultiDiscrete([2, 3])),
    "dict": (spaces.Dict({"seen": VECTOR, "mode": spaces.Discrete(2)}), spaces.Discrete(2)),
    "image": (spaces.Box(0, 255, (12, 12, 3), np.uint8), spaces.Discrete(2)),
}


@pytest.mark.parametrize("kind", SPACES)
@pytest.mark.parametrize("record", [False, True], ids=["bare", "recorded"])
def test_it_runs_on_all_kinds_of_spaces(kind, record, monkeypatch):
    monkeypatch_iteration(monkeypatch)
    given = {"envs": 2, "steps": 4, "hidden": (8,), "entropy_coef": 0.01}
    trained = rldebug.train(
        "a2c", lambda: Drawn(*SPACES[kind]), steps=24, settings=given, quiet=True, episodes=2, record=record
    )
    env = Drawn(*SPACES[kind])
    observations = gym.vector.utils.batch_space(env.observation_space, 5)
    actions = trained.act(observations.sample())
    assert gym.vector.utils.batch_space(env.action_space, 5).contains(actions)
    assert trained.summary.steps == 24


class Choice(gym.Env):
    """The right action is the side on which the observation is. Episodes of one step."""

    observation_space = spaces.Box(-1.0, 1.0, (1,), np.float32)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.side = self.np_random.uniform(-1, 1, 1).astype(np.float32)
        return self.side, {}

    def step(self, action):
        return self.side, float((self.side[0] > 0) == bool(action)), True, False, {}


def test_it_learns_what_to_do_where():
    trained = rldebug.train("a2c", Choice, steps=6_000, settings={"lr": 5e-3}, quiet=True, episodes=50)
    assert np.mean(trained.summary.greedy) > 0.9
    assert trained.act(np.array([[-0.5], [0.5]], np.float32)).tolist() == [0, 1]


@pytest.mark.parametrize("kind", ["dict", "image"])
def test_only_vectors_can_be_normalised(kind):
    with pytest.raises(TrainingError, match="normalise_obs is for vectors of numbers, observations are"):
        rldebug.train(
            "a2c", lambda: Drawn(*SPACES[kind]), steps=10, settings={"normalise_obs": True}, quiet=True, episodes=1
        )
