"""SAC: one update against the formulas written out row by row, and small problems whose answer is known."""

import math

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium import spaces
from gymnasium.wrappers import TimeLimit
from torch import distributions

import rldebug
from rldebug.algos import sac
from rldebug.checkpoint import TrainingError
from rldebug.parts.buffers import Replay

SMALL = {"hidden": (16,), "buffer": 2_000, "learning_starts": 40, "batch": 32}
BOX = spaces.Box(-1, 1, (3,))
ACTION = spaces.Box(np.array([-1.0, 0.0], np.float32), np.array([3.0, 0.5], np.float32))  # asymmetrical on purpose


class Noise(gym.Env):
    """Random observations of any space; actions change nothing; ends at random, rewards at random."""

    def __init__(self, observation_space=BOX, action_space=ACTION, ends=0.1):
        self.observation_space, self.action_space, self.ends = observation_space, action_space, ends
        self.played = []

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.observation_space.seed(seed)
        return self.observation_space.sample(), {}

    def step(self, action):
        self.played.append(action)
        ended = bool(self.np_random.random() < self.ends)
        return self.observation_space.sample(), float(self.np_random.normal(3.0)), ended, False, {}


def noise():
    return TimeLimit(Noise(), 7)


def trained(folder, env, steps, **settings):
    """What the checkpoint at the end holds."""
    rldebug.train("sac", env, steps=steps, settings=SMALL | settings, folder=folder, quiet=True, episodes=1)
    return torch.load(folder / "checkpoint.pt", weights_only=True)


# ── one update, written out ──

LOW, HIGH = torch.tensor(ACTION.low), torch.tensor(ACTION.high)


def log_density(mean, log_std, u):
    """Of low + (high − low) · (tanh(u) + 1) / 2, by the change of variables, for one row."""
    total = 0.0
    for i in range(len(u)):
        normal = distributions.Normal(mean[i], log_std[i].exp()).log_prob(u[i])
        slope = (HIGH[i] - LOW[i]) / 2 * (1 - u[i].tanh() ** 2)
        total = total + normal - slope.log()
    return total


def drawn(policy, obs, draw):
    """Action and log-density for one row of observations and standard normal numbers."""
    out = policy.output.head.linear(policy.intake(obs[None]))[0]
    mean, log_std = out[:2], out[2:]
    u = mean + log_std.exp() * draw
    return LOW + (HIGH - LOW) * (u.tanh() + 1) / 2, log_density(mean, log_std, u)


def value(critic, obs, action):
    return critic(torch.cat([obs, 2 * (action - LOW) / (HIGH - LOW) - 1])[None])[0, 0]


@pytest.fixture(scope="module")
def update(tmp_path_factory):
    """What a run holds before its second update, and after it: by then targets and critics differ."""
    settings = {"train_every": 40, "envs": 2, "gamma": 0.9, "lr": 1e-2, "alpha": 0.2, "tau": 0.25, "critics": 3}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sac, "ITERATION", 1)
        folder = tmp_path_factory.mktemp("runs")
        before = trained(folder / "before", noise, 80, updates=1, **settings)
        after = trained(folder / "after", noise, 80, updates=2, **settings)["kept"]
    return before, after


def members_of(state):
    """The critics, one by one."""
    critics = sac.Critics(BOX, ACTION, sac.Settings(hidden=(16,), critics=3))
    critics.load_state_dict(state)
    return [critics.heads.select(i) for i in range(3)]


def gradient_of(name, i, before, after):
    """What Adam was given for its `i`-th parameter, from its running mean of gradients."""
    old, new = (kept[name]["state"][i]["exp_avg"] for kept in (before, after))
    return (new - 0.9 * old) / 0.1


def test_an_update_is_that_of_the_formulas(update):
    before, after = update
    policy = sac.Policy(BOX, ACTION, (16,))
    policy.load_state_dict(before["kept"]["policy"])
    alpha = before["kept"]["temperature"]["log"].exp()
    replay = Replay(2_000, BOX, ACTION, envs=2, gamma=0.9)
    replay.load_state_dict(before["kept"]["replay"])
    batch = replay.sample(32)
    torch.set_rng_state(before["random"]["torch"])
    next_draws, draws = torch.randn(32, 2), torch.randn(32, 2)
    members, targets = members_of(before["kept"]["critics"]), members_of(before["kept"]["target_critics"])

    value_loss = 0.0
    for i in range(32):
        with torch.no_grad():
            action, logp = drawn(policy, batch.next_obs[i], next_draws[i])
            least = min(value(each, batch.next_obs[i], action) for each in targets)
            going_on = 0.0 if batch.terminated[i] else 1.0
            target = batch.reward[i] + 0.9 * going_on * (least - alpha * logp)
        for each in members:
            value_loss = value_loss + (value(each, batch.obs[i], batch.action[i]) - target) ** 2 / 32
    assert batch.terminated.any()
    assert (batch.truncated & ~batch.terminated).any()
    names = [name for name, _ in members[0].named_parameters()]
    for i, name in enumerate(names):
        weights = [dict(each.named_parameters())[name] for each in members]
        gradient = torch.stack(torch.autograd.grad(value_loss, weights, retain_graph=True))
        seen = gradient_of("critic_optimizer", i, before["kept"], after)
        torch.testing.assert_close(seen, gradient, rtol=1e-3, atol=1e-4)

    members = members_of(after["critics"])  # the policy sees the critics as they are after their step
    policy_loss, entropies = 0.0, []
    for i in range(32):
        action, logp = drawn(policy, batch.obs[i], draws[i])
        least = min(value(each, batch.obs[i], action) for each in members)
        policy_loss = policy_loss + (alpha * logp - least) / 32
        entropies.append(-logp.item())
    for i, gradient in enumerate(torch.autograd.grad(policy_loss, list(policy.parameters()))):
        seen = gradient_of("policy_optimizer", i, before["kept"], after)
        torch.testing.assert_close(seen, gradient, rtol=1e-3, atol=1e-4)

    # The temperature falls while there is more entropy than −1 per number, measured on a scale from −1 to 1.
    wanted = -2.0 + math.log(2.0) + math.log(0.25)
    gradient = sum(entropies) / 32 - wanted
    assert gradient > 0
    seen = gradient_of("temperature_optimizer", 0, before["kept"], after).item()
    assert seen == pytest.approx(gradient, rel=1e-3)
    assert after["temperature"]["log"] < before["kept"]["temperature"]["log"]


def test_target_critics_move_by_tau(update):
    before, after = update[0]["kept"], update[1]
    for name, moved in after["target_critics"].items():
        start = before["target_critics"][name]
        torch.testing.assert_close(moved, start + 0.25 * (after["critics"][name] - start))


def test_the_density_is_that_of_the_squashed_action():
    """By numbers: the histogram of many samples, on asymmetrical bounds."""
    policy = sac.Policy(BOX, spaces.Box(-1.0, 3.0, (1,)), (8,))
    with torch.no_grad():
        policy.output.head.linear.bias += torch.tensor([0.4, -0.5])
        now = policy(torch.zeros(1, 3).expand(200_000, 3))
        action = now.sample()
        assert action.min() >= -1
        assert action.max() <= 3
        edges = torch.linspace(-1, 3, 41)
        share = torch.histogram(action.flatten(), edges).hist / 200_000 / 0.1
        middle = ((edges[1:] + edges[:-1]) / 2)[:, None]
        density = policy(torch.zeros(40, 3)).log_prob(middle).exp()
    np.testing.assert_allclose(share, density, atol=0.03)


# ── small problems ──


class Hit(gym.Env):
    """One state; what counts is how near to 2 the action is, of −1 … 3. It never ends by itself."""

    observation_space, action_space = spaces.Box(0, 1, (1,)), spaces.Box(-1.0, 3.0, (1,))

    def reset(self, *, seed=None, options=None):
        return np.ones(1, np.float32), {}

    def step(self, action):
        return np.ones(1, np.float32), 1.0 - float(action[0] - 2) ** 2, False, False, {}


def test_it_finds_the_action_and_values_it_beyond_the_time_limit(tmp_path):
    settings = SMALL | {"gamma": 0.5, "lr": 1e-2, "tau": 0.1, "alpha": 0.1, "target_entropy": -2.0, "hidden": (32, 32)}
    run = rldebug.train(
        "sac", lambda: TimeLimit(Hit(), 2), steps=500, settings=settings, folder=tmp_path, quiet=True, episodes=3
    )
    assert run.act(np.ones((1, 1), np.float32))[0, 0] == pytest.approx(2.0, abs=0.3)
    critics = sac.Critics(Hit.observation_space, Hit.action_space, sac.Settings(hidden=(32, 32)))
    critics.load_state_dict(torch.load(tmp_path / "checkpoint.pt", weights_only=True)["kept"]["critics"])
    best = critics(torch.ones(1, 1), torch.tensor([[2.0]]))
    # 1 / (1 − 0.5) less a little for the noise; an ending at the limit would leave at most (1 + 1.5) / 2
    np.testing.assert_allclose(best.detach().numpy(), 2.0, atol=0.3)


def test_the_first_actions_are_spread_evenly_over_the_range(tmp_path):
    made = []

    def make():
        made.append(Noise())
        return made[-1]

    trained(tmp_path, make, 500, learning_starts=500)
    unit = 2 * (np.stack(made[0].played) - ACTION.low) / (ACTION.high - ACTION.low) - 1
    assert unit.shape == (500, 2)
    assert np.abs(unit).max() <= 1
    assert (np.abs(unit) > 0.6).mean() == pytest.approx(0.4, abs=0.04)  # of the untrained policy: 0.49
    assert unit.mean() == pytest.approx(0.0, abs=0.06)


def test_what_is_stored_is_where_the_action_led_also_at_an_ending(tmp_path):
    class Clock(gym.Env):
        observation_space, action_space = spaces.Box(0, 9, (1,)), ACTION

        def reset(self, *, seed=None, options=None):
            self.time = 0
            return np.zeros(1, np.float32), {}

        def step(self, action):
            self.time += 1
            return np.full(1, self.time, np.float32), 0.0, self.time == 3, self.time == 5, {}

    data = trained(tmp_path, Clock, 500, learning_starts=500)["kept"]["replay"]["data"]
    assert torch.equal(data["next_obs"], data["obs"] + 1)
    assert data["terminated"].sum() == 166


def test_actions_count_in_units_of_their_range_for_the_critics():
    torch.manual_seed(0)
    small = sac.Critics(BOX, spaces.Box(-1.0, 1.0, (1,)), sac.Settings(hidden=(8,)))
    torch.manual_seed(0)
    large = sac.Critics(BOX, spaces.Box(0.0, 1000.0, (1,)), sac.Settings(hidden=(8,)))
    obs, action = torch.randn(20, 3), torch.rand(20, 1)
    torch.testing.assert_close(small(obs, 2 * action - 1), large(obs, 1000 * action))


# ── spaces ──

PIXELS = spaces.Box(0, 255, (12, 12, 3), np.uint8)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Noise(spaces.Discrete(4, start=2)),
        lambda: Noise(spaces.Box(-3, 3, (2, 2), np.float64)),
        lambda: Noise(spaces.Dict({"at": BOX, "what": spaces.Discrete(3)})),
        lambda: Noise(PIXELS),
        lambda: Noise(BOX, spaces.Box(-1, 1, (2, 2))),
        lambda: Noise(BOX, spaces.Box(-1, 1, (2,), np.float64)),
    ],
    ids=["discrete", "float64", "dict", "image", "matrix-action", "float64-action"],
)
def test_it_runs_on_every_kind_of_observation(make, tmp_path):
    settings = SMALL | {"batch": 4, "learning_starts": 480}
    run = rldebug.train("sac", make, steps=500, settings=settings, folder=tmp_path, quiet=True, episodes=2)
    assert len(run.summary.greedy) == 2
    env = make()
    obs, _ = env.reset(seed=0)
    space = env.observation_space
    batch = gym.vector.utils.concatenate(space, [obs, obs], gym.vector.utils.create_empty_array(space, 2))
    assert all(env.action_space.contains(each) for each in run.act(batch))


@pytest.mark.parametrize(
    ("space", "why"),
    [
        (spaces.Discrete(2), r"floating-point actions.*dqn takes Discrete"),
        (spaces.Box(0, 3, (2,), np.int64), "floating-point actions"),
        (spaces.Box(-np.inf, 1, (2,)), r"with bounds.*ppo"),
    ],
    ids=["discrete", "integers", "unbounded"],
)
def test_other_actions_are_refused_with_what_to_use_instead(space, why):
    with pytest.raises(TrainingError, match=f"sac needs .*{why}"):
        rldebug.train("sac", lambda: Noise(BOX, space), steps=100, quiet=True)
