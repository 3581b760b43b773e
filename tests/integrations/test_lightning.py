"""Lightning's RLDebugCallback, and loops written with Fabric: mistakes are named, sound programs are left in peace."""

# ruff: noqa: E402 (the library is asked for first)

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

L = pytest.importorskip("lightning", reason="Lightning is in the extra `lightning`, which is not installed")

import rldebug
from rldebug.capture import session as sessions
from rldebug.integrations.lightning import RLDebugCallback
from tests.integrations import pages

pytestmark = [
    pytest.mark.integration,
    pytest.mark.filterwarnings("ignore:.*isinstance.treespec, LeafSpec.* is deprecated"),  # Lightning's use of torch
    pytest.mark.filterwarnings("ignore:.*does not have many workers"),  # of a loader that draws from replay
    pytest.mark.filterwarnings("ignore:.*You are calling 'step..' even though"),  # Gymnasium's, where that is planted
]

DQN = """
import random
from collections import deque

import gymnasium as gym
import lightning as L
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset


def network(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, outputs))


class Replay(IterableDataset):
    def __init__(self, memory):
        self.memory = memory

    def __iter__(self):
        while True:
            rows = zip(*random.sample(self.memory, 32))
            s, a, r, s2, end = (np.array(each) for each in rows)
            yield tuple(torch.as_tensor(each) for each in (s, a, r.astype(np.float32), s2, end.astype(np.float32)))


class Agent(L.LightningModule):
    def __init__(self, env="CartPole-v1"):
        super().__init__()
        self.save_hyperparameters()
        self.automatic_optimization = True
        self.env = gym.make(env)
        self.net = network(self.env.observation_space.shape[0], int(self.env.action_space.n))
        self.slow = network(self.env.observation_space.shape[0], int(self.env.action_space.n))
        self.slow.load_state_dict(self.net.state_dict())
        self.memory = deque(maxlen=10_000)

    def on_fit_start(self):
        self.obs, _ = self.env.reset(seed=0)
        for _ in range(200):
            self.play(1.0)

    @torch.no_grad()
    def play(self, epsilon):
        action = random.randrange(int(self.env.action_space.n))
        if random.random() >= epsilon:
            action = int(self.net(torch.as_tensor(self.obs)[None]).argmax(1))
        after, reward, terminated, truncated, _ = self.env.step(action)
        self.memory.append((self.obs, action, reward, after, terminated))
        if terminated or truncated:
            after, _ = self.env.reset()
        self.obs = after

    def training_step(self, batch, index):
        self.play(max(0.1, 1 - self.global_step / 300))
        s, a, r, s2, end = batch
        with torch.no_grad():
            after = self.slow(s2).max(1).values
        chosen = self.net(s).gather(1, a[:, None])[:, 0]
        loss = nn.functional.smooth_l1_loss(chosen, r + 0.99 * after * (1 - end))
        if self.global_step % 50 == 0:
            self.slow.load_state_dict(self.net.state_dict())
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.net.parameters(), 1e-3)

    def train_dataloader(self):
        return DataLoader(Replay(self.memory), batch_size=None)
"""

AUTOMATIC = "self.automatic_optimization = True"
COPIED = "        if self.global_step % 50"
STEPPED = """        optimizer = self.optimizers()
        optimizer.zero_grad()
        self.manual_backward(loss)
        optimizer.step()
"""
BY_HAND = {AUTOMATIC: "self.automatic_optimization = False", COPIED: STEPPED + COPIED}

PPO = """
import gymnasium as gym
import lightning as L
import torch
from torch import nn
from torch.distributions import Categorical


def network(outputs):
    return nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs))


class Agent(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.actor, self.critic = network(2), network(1)

    def on_fit_start(self):
        mode = gym.vector.AutoresetMode.SAME_STEP
        self.envs = gym.make_vec("CartPole-v1", 4, vectorization_mode="sync", vector_kwargs={"autoreset_mode": mode})
        self.obs, _ = self.envs.reset(seed=0)

    @torch.no_grad()
    def play(self):
        rows = []
        for _ in range(64):
            seen = torch.as_tensor(self.obs)
            dist = Categorical(logits=self.actor(seen))
            action = dist.sample()
            self.obs, reward, terminated, truncated, _ = self.envs.step(action.numpy())
            over = torch.as_tensor(terminated | truncated).float()
            reward = torch.as_tensor(reward).float()
            rows.append((seen, action, dist.log_prob(action), self.critic(seen)[:, 0], reward, over))
        s, a, logp, v, r, over = (torch.stack(each) for each in zip(*rows))
        after = torch.cat([v[1:], self.critic(torch.as_tensor(self.obs))[None, :, 0]])
        advantage, last = torch.zeros_like(v), torch.zeros(4)
        for t in reversed(range(64)):
            last = r[t] + 0.99 * (1 - over[t]) * after[t] - v[t] + 0.99 * 0.95 * (1 - over[t]) * last
            advantage[t] = last
        return [each.flatten(0, 1) for each in (s, a, logp, advantage, advantage + v)]

    def training_step(self, batch, index):
        actor, critic = self.optimizers()
        s, a, logp, advantage, returns = self.play()
        for _ in range(4):
            for rows in torch.randperm(len(s)).split(64):
                dist = Categorical(logits=self.actor(s[rows]))
                ratio = (dist.log_prob(a[rows]) - logp[rows]).exp()
                weight = (advantage[rows] - advantage[rows].mean()) / (advantage[rows].std() + 1e-8)
                gain = torch.min(ratio * weight, ratio.clamp(0.8, 1.2) * weight).mean()
                actor.zero_grad()
                self.manual_backward(-gain - 0.01 * dist.entropy().mean())
                self.clip_gradients(actor, gradient_clip_val=5.0)
                actor.step()
                error = ((self.critic(s[rows])[:, 0] - returns[rows]) ** 2).mean()
                critic.zero_grad()
                self.manual_backward(error)
                critic.step()

    def configure_optimizers(self):
        return torch.optim.Adam(self.actor.parameters(), 3e-4), torch.optim.Adam(self.critic.parameters(), 1e-3)

    def train_dataloader(self):
        return torch.utils.data.DataLoader(range(6))
"""

FABRIC = """
import gymnasium as gym
import torch
from lightning.fabric import Fabric
from torch import nn
from torch.distributions import Categorical


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 2))
        self.critic = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))

    def forward(self, obs):
        return Categorical(logits=self.actor(obs)), self.critic(obs)[:, 0]


def main(rounds=6):
    fabric = Fabric(accelerator="cpu", devices=1)
    fabric.seed_everything(0, verbose=False)
    mode = gym.vector.AutoresetMode.SAME_STEP
    envs = gym.make_vec("CartPole-v1", 4, vectorization_mode="sync", vector_kwargs={"autoreset_mode": mode})
    agent = Agent()
    agent, optimizer = fabric.setup(agent, torch.optim.Adam(agent.parameters(), 3e-4))
    obs, _ = envs.reset(seed=0)
    for _ in range(rounds):
        rows = []
        for _ in range(64):
            seen = torch.as_tensor(obs)
            with torch.no_grad():
                dist, value = agent(seen)
            action = dist.sample()
            obs, reward, terminated, truncated, _ = envs.step(action.numpy())
            over = torch.as_tensor(terminated | truncated).float()
            rows.append((seen, action, dist.log_prob(action), value, torch.as_tensor(reward).float(), over))
        s, a, logp, v, r, over = (torch.stack(each) for each in zip(*rows))
        with torch.no_grad():
            after = torch.cat([v[1:], agent(torch.as_tensor(obs))[1][None]])
        advantage, last = torch.zeros_like(v), torch.zeros(4)
        for t in reversed(range(64)):
            last = r[t] + 0.99 * (1 - over[t]) * after[t] - v[t] + 0.99 * 0.95 * (1 - over[t]) * last
            advantage[t] = last
        s, a, logp, advantage, returns = (x.flatten(0, 1) for x in (s, a, logp, advantage, advantage + v))
        for _ in range(4):
            for rows in torch.randperm(len(s)).split(64):
                dist, value = agent(s[rows])
                ratio = (dist.log_prob(a[rows]) - logp[rows]).exp()
                weight = (advantage[rows] - advantage[rows].mean()) / (advantage[rows].std() + 1e-8)
                gain = torch.min(ratio * weight, ratio.clamp(0.8, 1.2) * weight).mean()
                loss = -gain + 0.5 * ((value - returns[rows]) ** 2).mean() - 0.01 * dist.entropy().mean()
                optimizer.zero_grad()
                fabric.backward(loss)
                optimizer.step()
    return agent.module
"""


def program(text, changes=()):
    """A program of a user's, in a file of its own, with the mistake in it."""
    for old, new in dict(changes).items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path = Path("program.py").absolute()
    path.write_text(text, encoding="utf-8")
    scope = {"__name__": "program", "__file__": str(path)}
    exec(compile(text, str(path), "exec"), scope)
    return scope


def fitted(agent, *callbacks, steps=400):
    trainer = L.Trainer(
        max_steps=steps, max_epochs=1, accelerator="cpu", callbacks=list(callbacks), logger=False,
        enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
    )  # fmt: skip
    trainer.fit(agent)
    return agent


def watched(text, changes=(), **options):
    L.seed_everything(0, verbose=False)
    watch = RLDebugCallback(quiet=True, overhead_budget=1.0)
    fitted(program(text, changes)["Agent"](), watch, **options)
    assert watch.report.broken == {}
    return watch.report


def fabric(changes=(), **options):
    scope = program(FABRIC, changes)
    with rldebug.attach(quiet=True, overhead_budget=1.0) as dbg:
        scope["main"](**options)
    assert dbg.broken == {}
    return dbg.close()


def loud(report):
    return [(each.code, each.message, each.seen) for each in report.findings if each.severity != "note"]


def codes(report):
    return {each.code for each in report.findings}


def script_of(name):
    from rldebug.evidence.script import read_script

    return read_script(Path(".rldebug/runs") / name)


def test_the_example_of_the_page_runs(capsys):
    scope = pages.run("lightning")
    assert loud(scope["watch"].report) == []
    assert "optimizer steps" in capsys.readouterr().err


@pytest.mark.parametrize(("text", "changes"), [(DQN, ()), (DQN, BY_HAND), (PPO, ())], ids=["dqn", "by hand", "ppo"])
def test_quiet_about_sound_agents(text, changes):
    assert loud(watched(text, changes)) == []


def test_quiet_about_a_sound_loop_of_fabric():
    assert loud(fabric()) == []


def test_wrapped_networks_and_optimizers_are_seen_once():
    fabric(rounds=2)
    script = script_of("run")
    (optimizer,) = script.things["optimizer"].values()
    assert (optimizer["class"], optimizer["steps"], optimizer["missing"]) == ("Adam", 32, 0)
    assert optimizer["zeros"] == 32
    assert script.counts["updates"] == 32
    lines = Path("program.py").read_text().splitlines()
    (audit, *_) = script.audits
    assert {"fabric.backward(loss)"} == {lines[each["line"][1] - 1].strip() for each in audit.of("loss")}

    watched(PPO)
    script = script_of("lightning")
    assert sorted(each["steps"] for each in script.things["optimizer"].values()) == [96, 96]
    assert {each["class"] for each in script.things["optimizer"].values()} == {"Adam"}


def test_the_run_says_what_it_is():
    watched(DQN, steps=50)
    meta = json.loads(Path(".rldebug/runs/lightning/run.json").read_text())
    assert meta["declared"]["automatic_optimization"] is True
    assert meta["declared"]["hparams"] == {"env": "CartPole-v1"}
    assert meta["state"] == "finished"


def test_finds_a_target_that_is_not_detached():
    cut_off = "with torch.no_grad():\n            after = self.slow"
    report = watched(DQN, {cut_off: "if True:\n            after = self.net"})
    assert report.suspects[0].component == "value-loss"
    assert codes(report) & {"VAL300", "VAL620"}


def test_finds_gradients_that_are_never_cleared():
    report = watched(DQN, {**BY_HAND, COPIED: STEPPED.replace("        optimizer.zero_grad()\n", "") + COPIED})
    assert report.suspects[0].component == "optimizer"
    assert "OPT008" in codes(report)


def test_finds_optimizers_that_both_step_everything():
    everything = "Adam(self.actor.parameters(), 3e-4), torch.optim.Adam(self.critic.parameters(), 1e-3)"
    report = watched(PPO, {everything: "Adam(self.parameters(), 3e-4), torch.optim.Adam(self.parameters(), 1e-3)"})
    assert report.suspects[0].component == "optimizer"


def test_finds_an_environment_that_is_never_reset():
    report = watched(DQN, {"        if terminated or truncated:\n            after, _ = self.env.reset()\n": ""})
    assert report.suspects[0].component == "environment"
    assert "ENV300" in codes(report)


def test_finds_an_ascent_in_a_loop_of_fabric():
    report = fabric({"loss = -gain": "loss = gain"})
    assert report.suspects[0].component == "policy-loss"


def test_finds_gradients_of_fabric_that_are_never_cleared():
    report = fabric({"                optimizer.zero_grad()\n": ""})
    assert report.suspects[0].component == "optimizer"
    assert "OPT008" in codes(report)


@pytest.mark.parametrize(("text", "changes"), [(DQN, ()), (DQN, BY_HAND), (PPO, ())], ids=["dqn", "by hand", "ppo"])
def test_changes_nothing(text, changes):
    ended = []
    for callbacks in ([], [RLDebugCallback(quiet=True, overhead_budget=1.0)]):
        L.seed_everything(0, verbose=False)
        agent = fitted(program(text, changes)["Agent"](), *callbacks, steps=100)
        ended.append((torch.nn.utils.parameters_to_vector(agent.parameters()), torch.rand(1)))
    assert torch.equal(ended[0][0], ended[1][0])
    assert torch.equal(ended[0][1], ended[1][1])
    assert sessions.current() is None


def test_changes_nothing_in_a_loop_of_fabric():
    alone = program(FABRIC)["main"](rounds=2)
    with rldebug.attach(quiet=True, overhead_budget=1.0):
        seen = program(FABRIC)["main"](rounds=2)
    assert torch.equal(*(torch.nn.utils.parameters_to_vector(each.parameters()) for each in (alone, seen)))


def test_what_is_raised_in_training_step_is_explained():
    watch = RLDebugCallback(quiet=True)
    changes = {"self.net(s).gather(1, a[:, None])": "self.net(s[:, :2]).gather(1, a[:, None])"}
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        fitted(program(DQN, changes)["Agent"](), watch)
    assert json.loads(Path(".rldebug/runs/lightning/run.json").read_text())["state"] == "crashed"
    assert sessions.current() is None


def test_says_what_to_install_where_lightning_is_missing():
    code = (
        "import sys; sys.modules['lightning'] = sys.modules['pytorch_lightning'] = None; "
        "import rldebug.integrations.lightning"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'rldebug[lightning]'" in ended.stderr
