"""DQN: one gradient step against the formula written out, the values of small problems against their exact solution."""

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium import spaces
from gymnasium.wrappers import FrameStackObservation, TimeLimit

import rldebug
from rldebug.algos import dqn
from rldebug.checkpoint import TrainingError
from rldebug.parts.buffers import PrioritisedReplay, Replay

SMALL = {"hidden": (16,), "buffer": 2_000, "learning_starts": 0, "batch": 32, "n_step": 1, "anneal": False}


def trained(folder, env, steps, **settings):
    """What the checkpoint at the end holds."""
    rldebug.train("dqn", env, steps=steps, settings=SMALL | settings, folder=folder, quiet=True, episodes=1)
    return torch.load(folder / "checkpoint.pt", weights_only=True)


# ── environments ──


class Line(gym.Env):
    """Cells 0 to 3; action 0 goes left, 1 right; the last cell ends the episode and pays."""

    observation_space = spaces.Discrete(4)
    action_space = spaces.Discrete(2)
    paid, cells = 1.0, 4

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = int(self.np_random.integers(self.cells - 1))
        return self.at, {}

    def step(self, action):
        self.at, reward, terminated = self.after(self.at, int(action))
        return self.at, reward, terminated, False, {}

    @classmethod
    def after(cls, cell, action):
        cell = max(cell - 1, 0) if action == 0 else cell + 1
        return cell, cls.paid * (cell == cls.cells - 1), cell == cls.cells - 1


class Noise(gym.Env):
    """Random observations of any space; actions change nothing; ends at random, rewards at random."""

    def __init__(self, observation_space, action_space=None, ends=0.1):
        self.observation_space, self.action_space = observation_space, action_space or spaces.Discrete(3)
        self.ends, self.played = ends, []

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.observation_space.seed(seed)
        return self.observation_space.sample(), {}

    def step(self, action):
        self.played.append(int(action))
        ended = bool(self.np_random.random() < self.ends)
        return self.observation_space.sample(), float(self.np_random.normal(3.0)), ended, False, {}


BOX = spaces.Box(-1, 1, (3,))


def noise():
    return TimeLimit(Noise(BOX), 7)


# ── one step, written out ──


@pytest.mark.parametrize(
    ("double", "n_step", "prioritised", "clip"),
    [(False, 1, False, 10.0), (True, 1, False, 0.01), (True, 3, True, 10.0), (False, 3, True, 0.01)],
    ids=["plain", "double-clipped", "all", "n-step-prioritised-clipped"],
)
def test_the_gradient_of_an_update_is_that_of_the_formula(double, n_step, prioritised, clip, tmp_path, monkeypatch):
    monkeypatch.setattr(dqn, "ITERATION", 1)
    settings = {
        "double": double,
        "n_step": n_step,
        "prioritised": prioritised,
        "max_grad_norm": clip,
        "envs": 2,
        "train_every": 40,
        "gamma": 0.9,
        "target_every": 10**9,
        "lr": 0.1,
    }
    # The second update: networks and priorities differ by then. All else is the same up to it.
    before = trained(tmp_path / "before", noise, 80, updates=1, **settings)["kept"]
    after = trained(tmp_path / "after", noise, 80, updates=2, **settings)["kept"]

    q, target_q = dqn.QNetwork(BOX, 3, (16,)), dqn.QNetwork(BOX, 3, (16,))
    q.load_state_dict(before["q"])
    target_q.load_state_dict(before["target_q"])
    assert not torch.equal(before["target_q"]["net.0.weight"], before["q"]["net.0.weight"])
    kind = PrioritisedReplay if prioritised else Replay
    replay = kind(2_000, BOX, spaces.Discrete(3), envs=2, n_step=n_step, gamma=0.9)
    replay.load_state_dict(before["replay"])
    beta = {"beta": 1.0} if prioritised else {}  # the run is over at this step: the correction is whole
    batch = replay.sample(32, **beta)

    loss = 0.0
    for i in range(32):
        with torch.no_grad():
            next_q = target_q(batch.next_obs[i : i + 1])[0]
            chosen = int(q(batch.next_obs[i : i + 1])[0].argmax()) if double else int(next_q.argmax())
            # discount holds γ^m and the ending, and is tested with the buffer
            target = batch.reward[i] + batch.discount[i] * next_q[chosen]
        error = (q(batch.obs[i : i + 1])[0, int(batch.action[i])] - target).abs()
        loss = loss + batch.weight[i] * (0.5 * error**2 if error < 1 else error - 0.5) / 32
    gradients = torch.autograd.grad(loss, list(q.parameters()))
    norm = torch.cat([each.flatten() for each in gradients]).norm()
    assert (norm > clip) == (clip == 0.01)
    shorter = min(1.0, clip / (float(norm) + 1e-6))
    for i, gradient in enumerate(gradients):
        old, new = (each["optimizer"]["state"][i]["exp_avg"] for each in (before, after))  # Adam's running gradient
        torch.testing.assert_close(new, 0.9 * old + 0.1 * shorter * gradient, rtol=1e-3, atol=1e-6)
    if prioritised:
        assert batch.weight.min() < 0.9
        assert len(set(after["replay"]["priority"].tolist())) > len(set(before["replay"]["priority"].tolist())) > 10


@pytest.mark.parametrize("double", [False, True], ids=["single", "double"])
def test_bootstrapped_is_the_targets_value_of_the_best_action(double):
    q, target_q = dqn.QNetwork(BOX, 4, (8,)), dqn.QNetwork(BOX, 4, (8,))
    obs = torch.randn(50, 3)
    value = dqn.bootstrapped(q, target_q, obs, double)
    one, other = q(obs).tolist(), target_q(obs).tolist()
    for i in range(50):
        expected = other[i][one[i].index(max(one[i]))] if double else max(other[i])
        assert value[i].item() == pytest.approx(expected)


# ── small problems, solved exactly ──


def exact_line(gamma):
    values = np.zeros((4, 2))
    for _ in range(200):
        for cell in range(3):
            for action in range(2):
                after, reward, terminated = Line.after(cell, action)
                values[cell, action] = reward + (0 if terminated else gamma * values[after].max())
    return values[:3]


@pytest.mark.parametrize(
    "switches",
    [
        {"double": False},
        {"tau": 0.1, "target_every": 1, "prioritised": True, "envs": 2},
        {"n_step": 3, "epsilon_end": 0.02},
    ],
    ids=["hard", "soft-double-prioritised", "n-step"],
)
def test_it_learns_the_values_of_a_line(switches, tmp_path):
    common = {"gamma": 0.8, "lr": 1e-2, "train_every": 1, "updates": 1, "target_every": 20, "epsilon_end": 0.5}
    kept = trained(tmp_path, Line, 500 * switches.get("envs", 1), **(common | switches))["kept"]
    q = dqn.QNetwork(Line.observation_space, 2, (16,))
    q.load_state_dict(kept["q"])
    learned = q(torch.arange(3)).detach().numpy()
    exact = exact_line(0.8)
    assert (learned.argmax(-1) == 1).all()
    if "n_step" in switches:  # off-policy: what was not greedy is valued with the detours that were made
        learned, exact = learned[:, 1], exact[:, 1]
    np.testing.assert_allclose(learned, exact, atol=0.08)


@pytest.mark.parametrize("n_step", [1, 3])
def test_running_out_of_time_is_not_an_ending(n_step, tmp_path):
    class Pays(gym.Env):
        observation_space, action_space = spaces.Box(0, 1, (1,)), spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            return np.ones(1, np.float32), {}

        def step(self, action):
            return np.ones(1, np.float32), 1.0, False, False, {}

    settings = {"gamma": 0.8, "lr": 1e-2, "anneal": True, "train_every": 1, "updates": 1, "target_every": 10}
    kept = trained(tmp_path, lambda: TimeLimit(Pays(), 3), 500, n_step=n_step, **settings)["kept"]
    q = dqn.QNetwork(Pays.observation_space, 2, (16,))
    q.load_state_dict(kept["q"])
    # 1 / (1 − 0.8), for ever; an ending after 3 steps would leave at most 1 + 0.8 + 0.64 = 2.44
    np.testing.assert_allclose(q(torch.ones(1, 1)).detach().numpy(), 5.0, atol=0.25)


def test_what_is_stored_is_where_the_action_led_also_at_an_ending(tmp_path):
    class Clock(gym.Env):
        observation_space, action_space = spaces.Box(0, 9, (1,)), spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            self.time = 0
            return np.zeros(1, np.float32), {}

        def step(self, action):
            self.time += 1
            return np.full(1, self.time, np.float32), 0.0, False, self.time == 3, {}

    data = trained(tmp_path, Clock, 500, train_every=4, updates=0)["kept"]["replay"]["data"]
    assert torch.equal(data["next_obs"], data["obs"] + 1)
    assert data["truncated"].sum() == 166


# ── exploration ──


def test_only_random_actions_are_played_without_asking_the_network(tmp_path, monkeypatch):
    def asked(*_):
        raise AssertionError("the network was asked")

    monkeypatch.setattr(dqn.QNetwork, "forward", asked)
    made = []

    def make():
        made.append(Noise(BOX, ends=0.0))
        return made[-1]

    run = {"envs": 2, "updates": 0, "epsilon_end": 1.0}
    with pytest.raises(AssertionError, match="was asked"):  # by the evaluation, once training is over
        trained(tmp_path, make, 500, **run)
    played = made[0].played + made[1].played
    assert len(played) >= 500
    assert min(played.count(each) for each in range(3)) > 120


def test_every_environment_has_a_coin_of_its_own(tmp_path):
    made = []

    def make():
        # So many actions that a random one is hardly ever the greedy one; one observation: that is always the same.
        made.append(Noise(spaces.Box(1, 1, (2,)), spaces.Discrete(1000)))
        return made[-1]

    run = {"envs": 2, "updates": 0, "epsilon_start": 0.5, "epsilon_end": 0.5}
    trained(tmp_path, make, 2_000, **run)
    one, other = np.array(made[0].played[:1000]), np.array(made[1].played[:1000])
    greedy = np.bincount(one).argmax()
    assert np.bincount(other).argmax() == greedy
    explored, other_explored = one != greedy, other != greedy
    assert 0.4 < explored.mean() < 0.6
    assert 0.4 < (explored == other_explored).mean() < 0.6  # with one coin for both: always


def test_epsilon_falls_over_its_part_of_the_run_and_before_learning_all_is_random(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(rldebug.training.Training, "log", lambda self, **numbers: seen.append(numbers["epsilon"]))
    schedule = {"epsilon_start": 0.9, "epsilon_end": 0.1, "epsilon_fraction": 0.5}
    trained(tmp_path, noise, 3_000, learning_starts=500, train_every=4, updates=0, **schedule)
    # at the last step of each 500
    along = [1499 / 1500, 999 / 1500]
    expected = [1.0, 0.9 - 0.8 * along[1], 0.9 - 0.8 * along[0], 0.1, 0.1, 0.1]
    assert seen == pytest.approx(expected)


def test_the_correction_of_prioritised_drawing_grows_to_one(tmp_path, monkeypatch):
    betas, sample = [], PrioritisedReplay.sample
    monkeypatch.setattr(
        PrioritisedReplay, "sample", lambda self, n, beta: (betas.append(beta), sample(self, n, beta))[1]
    )
    trained(tmp_path, noise, 1_000, prioritised=True, beta=0.4, train_every=10, updates=1)
    assert betas == pytest.approx([0.4 + 0.6 * (i + 1) / 100 for i in range(100)])


# ── the target network ──


def test_the_target_network_moves_when_and_as_far_as_it_should(tmp_path, monkeypatch):
    monkeypatch.setattr(dqn, "ITERATION", 1)
    common = {"train_every": 10, "updates": 2}  # 100 steps: 20 updates
    still = trained(tmp_path / "still", noise, 100, target_every=21, **common)["kept"]
    moved = trained(tmp_path / "moved", noise, 100, target_every=20, tau=0.25, **common)["kept"]
    copied = trained(tmp_path / "copied", noise, 100, target_every=20, **common)["kept"]
    start = still["target_q"]
    for name, before in start.items():
        assert torch.equal(copied["target_q"][name], copied["q"][name])
        torch.testing.assert_close(moved["target_q"][name], before + 0.25 * (moved["q"][name] - before))
    assert not torch.equal(start["net.0.weight"], still["q"]["net.0.weight"])


# ── spaces ──

PIXELS = spaces.Box(0, 255, (12, 12), np.uint8)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Noise(spaces.Discrete(4, start=2)),
        lambda: Noise(spaces.MultiBinary(3)),
        lambda: Noise(spaces.Box(-3, 3, (2, 2), np.float64)),
        lambda: Noise(spaces.Box(0, 9, (4,), np.int32)),
        lambda: Noise(spaces.Dict({"at": BOX, "what": spaces.Discrete(3), "seen": PIXELS})),
        lambda: Noise(spaces.Tuple((BOX, spaces.MultiDiscrete([2, 3])))),
        lambda: Noise(spaces.Box(0, 255, (12, 12, 3), np.uint8)),
        lambda: FrameStackObservation(Noise(PIXELS), 4),
        lambda: Noise(BOX, spaces.Discrete(3, start=-1)),
    ],
    ids=["discrete", "binary", "float64", "int32", "dict", "tuple", "image", "stacked", "start"],
)
def test_it_runs_on_every_kind_of_observation(make, tmp_path):
    settings = SMALL | {"batch": 4, "buffer": 200, "learning_starts": 480}
    run = rldebug.train("dqn", make, steps=500, settings=settings, folder=tmp_path, quiet=True, episodes=2)
    assert len(run.summary.greedy) == 2
    env = make()
    obs, _ = env.reset(seed=0)
    batch = gym.vector.utils.concatenate(
        env.observation_space, [obs, obs], gym.vector.utils.create_empty_array(env.observation_space, 2)
    )
    chosen = run.act(batch)
    assert chosen.shape == (2,)
    assert all(env.action_space.contains(each) for each in chosen)


def test_stacked_frames_are_stored_once(tmp_path):
    kept = trained(tmp_path, lambda: FrameStackObservation(Noise(PIXELS), 4), 500, updates=0, buffer=400)["kept"]
    assert kept["replay"]["data"]["frame"].shape[1:] == (12, 12)
    assert "obs" not in kept["replay"]["data"]


@pytest.mark.parametrize("space", [spaces.Box(-1, 1, (2,)), spaces.MultiDiscrete([2, 2])], ids=["box", "multidiscrete"])
def test_other_actions_are_refused_with_what_to_use_instead(space):
    with pytest.raises(TrainingError, match=r"dqn needs a Discrete action space, this one is .*ppo"):
        rldebug.train("dqn", lambda: Noise(BOX, space), steps=100, quiet=True)
