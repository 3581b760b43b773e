"""RLlib's RLDebugCallback: whatever process plays and learns, mistakes are named, and sound runs are left in peace."""

# ruff: noqa: E402 (the library is asked for first)

import functools
import json
import logging
import subprocess
import sys
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import nn

ray = pytest.importorskip("ray", reason="Ray is in the extra `rllib`, which is not installed")
pytest.importorskip("ray.rllib", reason="RLlib is in the extra `rllib`, which is not installed")

from ray.rllib.algorithms.dqn import DQNConfig
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner
from ray.rllib.algorithms.sac import SACConfig
from ray.rllib.connectors.connector_v2 import ConnectorV2
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.core.rl_module.torch import TorchRLModule
from ray.rllib.env.single_agent_episode import SingleAgentEpisode

from rldebug.capture import session as sessions
from rldebug.integrations.rllib import Played, RLDebugCallback
from tests.integrations import pages

pytestmark = [
    pytest.mark.integration,
    # Ray's own, about itself and about what it imports; the callback itself warns of nothing.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning:gymnasium"),
    pytest.mark.filterwarnings("ignore:Mean of empty slice:RuntimeWarning"),
]


@pytest.fixture(scope="module", autouse=True)
def cluster():
    for each in ("ray", "ray.rllib", "ray.tune"):
        logging.getLogger(each).setLevel(logging.ERROR)
    # Actors import what is sent to them by reference, this file too.
    path = {"env_vars": {"PYTHONPATH": str(Path(__file__).parents[2])}}
    quiet = {"include_dashboard": False, "log_to_driver": False, "logging_level": "error"}
    ray.init(num_cpus=4, runtime_env=path, **quiet)
    yield
    ray.shutdown()


def ppo(env="CartPole-v1", **settings):
    given = {"train_batch_size_per_learner": 512, "minibatch_size": 128, "num_epochs": 4, "vf_clip_param": 1e6}
    return PPOConfig().environment(env).training(**given | settings)


def dqn(env="CartPole-v1", **settings):
    given = {
        "train_batch_size_per_learner": 32, "num_steps_sampled_before_learning_starts": 150,
        "target_network_update_freq": 100, "replay_buffer_config": {"type": "EpisodeReplayBuffer", "capacity": 5000},
    }  # fmt: skip
    config = DQNConfig().environment(env).training(**given | settings).env_runners(rollout_fragment_length=4)
    return config.reporting(min_sample_timesteps_per_iteration=200)


def sac():
    given = {
        "train_batch_size_per_learner": 32, "num_steps_sampled_before_learning_starts": 80,
        "replay_buffer_config": {"type": "EpisodeReplayBuffer", "capacity": 5000},
    }  # fmt: skip
    config = SACConfig().environment("Pendulum-v1").training(**given).env_runners(rollout_fragment_length=1)
    return config.reporting(min_sample_timesteps_per_iteration=120)


def trained(config, *callbacks, rounds=4, runners=0, learners=0, seed=1):
    config = config.env_runners(num_env_runners=runners).learners(num_learners=learners)
    config = config.debugging(seed=seed, log_level="ERROR")
    if callbacks:
        config = config.callbacks(*callbacks)
    algorithm = config.build_algo()
    if algorithm.local_replay_buffer is not None:
        algorithm.local_replay_buffer.rng = np.random.default_rng(seed)  # the config's seed does not reach it
    for _ in range(rounds):
        algorithm.train()
    return algorithm


def watched(config, **options):
    algorithm = trained(config, functools.partial(RLDebugCallback, quiet=True, overhead_budget=1.0), **options)
    (watch,) = algorithm.callbacks
    algorithm.stop()
    assert watch.attached.broken == {}
    assert watch.report.broken == {}
    assert sessions.current() is None
    return watch.report


def loud(report):
    return [(each.code, each.message, each.seen) for each in report.findings if each.severity != "note"]


def codes(report):
    return {each.code for each in report.findings}


def test_the_example_of_the_page_runs(capsys):
    scope = pages.run("rllib")
    assert loud(scope["algorithm"].callbacks[0].report) == []
    told = capsys.readouterr().err
    assert "program:  ppo · γ = 0.99 · λ = 1 · CartPole-v1 · 1 500 env steps" in told
    meta = json.loads(Path(".rldebug/runs/cartpole/run.json").read_text())
    assert (meta["declared"]["algorithm"], meta["declared"]["minibatch_size"]) == ("ppo", 100)


@pytest.mark.parametrize("make", [ppo, dqn, sac])
def test_quiet_where_all_is_in_one_process(make):
    assert loud(watched(make(), rounds=1 if make is sac else 3)) == []


def test_notes_a_cap_that_most_errors_of_the_value_are_beyond():
    """RLlib's own default, on an environment whose returns are larger than that."""
    report = watched(ppo(vf_clip_param=10.0), rounds=3)
    assert loud(report) == []
    assert "VAL393" in codes(report)


def test_quiet_where_several_environments_reset_themselves():
    assert loud(watched(ppo().env_runners(num_envs_per_env_runner=4), rounds=3)) == []


# ── mistakes ────────────────────────────────────────────────────────────────────────────────────────────────────────


class Net(TorchRLModule, ValueFunctionAPI):
    def setup(self):
        size = self.observation_space.shape[0]
        self.trunk = nn.Sequential(nn.Linear(size, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())
        self.policy = nn.Linear(64, int(self.action_space.n))
        self.critic = nn.Sequential(nn.Linear(size, 64), nn.Tanh(), nn.Linear(64, 1))

    def _forward(self, batch, **kwargs):
        return {Columns.ACTION_DIST_INPUTS: self.policy(self.trunk(batch[Columns.OBS]))}

    def compute_values(self, batch, embeddings=None):
        return self.critic(batch[Columns.OBS]).squeeze(-1)


class CutOff(Net):
    def _forward(self, batch, **kwargs):
        return {Columns.ACTION_DIST_INPUTS: self.policy(self.trunk(batch[Columns.OBS]).detach())}


class Bounded(Net):
    def compute_values(self, batch, embeddings=None):
        return torch.tanh(super().compute_values(batch))


def with_module(kind, **settings):
    return ppo(**settings).rl_module(rl_module_spec=RLModuleSpec(module_class=kind))


def test_quiet_about_a_module_of_the_users_own():
    assert loud(watched(with_module(Net))) == []


def test_finds_a_trunk_that_is_cut_off():
    report = watched(with_module(CutOff))
    assert report.suspects[0].component == "autograd-graph"
    assert any("trunk" in each.message for each in report.roots)


def test_finds_a_value_head_with_a_bound():
    report = watched(with_module(Bounded, lr=5e-3), rounds=5)
    assert report.suspects[0].component == "network"
    assert "NET300" in codes(report)


class Limited(gym.Wrapper):
    """Ends after 40 steps, and says `terminated`."""

    def __init__(self, config=None):
        super().__init__(gym.make("CartPole-v1").env)
        self.unwrapped.theta_threshold_radians = 1.0  # else few come so far
        self.count = 0

    def reset(self, *, seed=None, options=None):
        self.count = 0
        return self.env.reset(seed=seed, options=options)

    def step(self, action):
        obs, reward, terminated, truncated, info = self.env.step(action)
        self.count += 1
        return obs, reward, terminated or self.count >= 40, truncated, info


@pytest.mark.parametrize("runners", [0, 1])
def test_finds_a_time_limit_that_is_told_as_an_end(runners):
    report = watched(ppo(Limited), rounds=4, runners=runners)
    assert report.suspects[0].component == "environment"
    assert "ENV351" in codes(report)


class Ascent(PPOTorchLearner):
    def compute_loss_for_module(self, **given):
        return -super().compute_loss_for_module(**given)


class RootOfZero(PPOTorchLearner):
    """A loss that is finite, and its gradient is not."""

    def compute_loss_for_module(self, *, fwd_out, **given):
        loss = super().compute_loss_for_module(fwd_out=fwd_out, **given)
        return loss + torch.sqrt((fwd_out[Columns.ACTION_DIST_INPUTS] * 0).sum())


@pytest.mark.parametrize(("runners", "learners"), [(0, 0), (1, 0), (1, 1)])
def test_finds_a_loss_with_the_wrong_sign_in_whatever_process(runners, learners):
    report = watched(ppo().learners(learner_class=Ascent), rounds=3, runners=runners, learners=learners)
    assert report.suspects[0].component == "policy-loss"
    assert "POL340" in codes(report)
    assert "SEE301" not in codes(report)  # it was seeded before anybody looked
    assert Path(".rldebug/runs/rllib/children/00").is_dir() == bool(learners)


def test_finds_gradients_that_rllib_sets_to_zero():
    report = watched(ppo().learners(learner_class=RootOfZero), rounds=3)
    assert report.suspects[0].component == "autograd-graph"
    assert "GRA304" in codes(report)


class Scaled(ConnectorV2):
    """Changes the observation on its way to the module, and not in the episode."""

    def __call__(self, *, batch, episodes, **kwargs):
        for each in self.single_agent_episode_iterator(episodes):
            obs = each.get_observations(-1) * 0.1 + 3.0
            self.add_batch_item(batch, Columns.OBS, item_to_add=obs, single_agent_episode=each)
        return batch


def test_finds_a_connector_that_the_learner_knows_nothing_of():
    config = ppo().env_runners(env_to_module_connector=lambda env, spaces=None, device=None: Scaled())
    report = watched(config, rounds=5)
    assert report.suspects[0].component == "normalisation"
    assert "NRM304" in codes(report)


# ── how ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("make", "runners"), [(ppo, 0), (ppo, 1), (dqn, 0)])
def test_changes_nothing(make, runners):
    ended = []
    for callbacks in ([], [functools.partial(RLDebugCallback, quiet=True, overhead_budget=1.0)]):
        algorithm = trained(make(), *callbacks, rounds=2, runners=runners)
        learner = algorithm.learner_group._learner
        ended.append({name: each.clone() for name, each in learner.module["default_policy"].state_dict().items()})
        algorithm.stop()
    assert all(torch.equal(each, ended[1][name]) for name, each in ended[0].items())


def test_episodes_of_env_runners_are_told_to_the_process_that_learns():
    assert loud(watched(ppo(), rounds=2, runners=1)) == []
    from rldebug.evidence.script import read_script

    script = read_script(Path(".rldebug/runs/rllib"))
    (stream,) = script.streams
    assert (stream["name"], stream["kind"], stream["steps"]) == ("CartPole-v1", "rllib-episodes", 1024)
    assert stream["episodes"] > 20
    assert sum(stream["lengths"]) <= 1024
    audit = next(each for each in script.audits if each.terms("policy"))
    rows = audit.terms("policy")[0].arrays["rows"]
    assert (audit.nodes.index(rows) >= 0).mean() > 0.9


class Log:
    def __init__(self):
        self.told = []

    def new(self, env, *facts):
        self.told.append(("new",))

    def reset(self, env, obs, *more):
        self.told.append(("reset", float(obs[0])))

    def step(self, env, action, obs, reward, terminated, truncated, final):
        self.told.append(("step", action, float(obs[0]), reward, terminated, truncated))


def test_an_episode_in_pieces_is_told_as_one(monkeypatch):
    log = Log()
    monkeypatch.setattr(sessions, "current", lambda: type("Session", (), {"told": log}))

    def piece(*obs, **more):
        acted = range(len(obs) - 1)
        seen = [np.array([each], dtype=np.float32) for each in obs]
        given = {"observations": seen, "actions": list(acted), "rewards": [1.0] * len(acted), "len_lookback_buffer": 0}
        return SingleAgentEpisode(**given, **more)

    played = Played({}, at_a_time=1)
    played.tell([([piece(1, 2, 3, id_="a")], {"metrics": 0}), None])
    played.tell([[piece(3, 4, id_="a", t_started=2, terminated=True), piece(7, 8, id_="b")]])
    played.tell([[piece(5, 6, id_="c")]])  # what became of b, nobody says
    assert log.told == [
        ("new",), ("reset", 1.0), ("step", 0, 2.0, 1.0, False, False), ("step", 1, 3.0, 1.0, False, False),
        ("step", 0, 4.0, 1.0, True, False), ("reset", 7.0), ("step", 0, 8.0, 1.0, False, False),
        ("reset", 5.0), ("step", 0, 6.0, 1.0, False, False),
    ]  # fmt: skip


def test_says_what_it_has_found_so_far(capsys):
    watch = functools.partial(RLDebugCallback, quiet=True, overhead_budget=1.0, report_every=2)
    algorithm = trained(ppo().learners(learner_class=Ascent), watch, rounds=3)
    assert "rldebug: error[POL" in capsys.readouterr().err
    assert algorithm.train()["rldebug"]["findings"] > 0
    algorithm.stop()


def test_a_callback_that_fails_does_not_stop_the_training(monkeypatch):
    monkeypatch.setattr(Played, "tell", lambda self, results: 1 / 0)
    algorithm = trained(ppo(), functools.partial(RLDebugCallback, quiet=True), rounds=1, runners=1)
    (watch,) = algorithm.callbacks
    algorithm.stop()
    assert "ZeroDivisionError" in watch.attached.broken["integrations/rllib: episodes of other processes"]


def test_says_what_it_expects_of_the_old_stack():
    config = ppo().api_stack(enable_rl_module_and_learner=False, enable_env_runner_and_connector_v2=False)
    with pytest.raises(ValueError, match="new API stack"):
        trained(config, RLDebugCallback, rounds=1)
    assert sessions.current() is None


def test_says_what_to_install_where_rllib_is_missing():
    code = "import sys; sys.modules['ray'] = None; import rldebug.integrations.rllib"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'rldebug[rllib]'" in ended.stderr
