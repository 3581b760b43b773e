"""rldebug.attach: a process that runs already is watched as `rldebug run` would watch it."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import nn
from torch.distributions import Categorical
from torch.optim import Optimizer

import rldebug
from rldebug.capture import session as sessions
from rldebug.config import ConfigError
from rldebug.evidence.run import read_run
from rldebug.handover import HandoverError

RUNS = Path(".rldebug/runs")


class Learner:
    """REINFORCE with a baseline, made before anybody attaches."""

    def __init__(self, sign=-1.0):
        torch.manual_seed(0)
        self.env = gym.make("CartPole-v1")
        self.net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
        self.critic = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
        self.optimizer = torch.optim.Adam([*self.net.parameters(), *self.critic.parameters()], lr=3e-3)
        self.sign, self.seed = sign, 0

    def learn(self, episodes=12, dbg=None):
        for _ in range(episodes):
            observed, done, rewards, end = [], [], [], False
            obs, _ = self.env.reset(seed=self.seed)
            self.seed += 1
            while not end:
                observed.append(torch.as_tensor(obs))
                with torch.no_grad():
                    done.append(Categorical(logits=self.net(observed[-1])).sample())
                obs, reward, terminated, truncated, _ = self.env.step(int(done[-1]))
                rewards.append(float(reward))
                end = terminated or truncated
            total, returns = 0.0, []
            for reward in reversed(rewards):
                total = reward + 0.99 * total
                returns.insert(0, total)
            target, batch = torch.tensor(returns), torch.stack(observed)
            value = self.critic(batch).squeeze(-1)
            logp = Categorical(logits=self.net(batch)).log_prob(torch.stack(done))
            if dbg is not None:
                dbg.rollout(reward=rewards, value=value, logp=logp)
            loss = self.sign * (logp * (target - value).detach()).mean() + (value - target).square().mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return self

    @property
    def weights(self):
        return torch.cat([each.detach().flatten() for each in (*self.net.parameters(), *self.critic.parameters())])


def test_names_what_is_wrong_in_what_was_made_before(capsys):
    learner = Learner(sign=1.0)
    with rldebug.attach(run="mine") as dbg:
        dbg.declare(algorithm="reinforce", gamma=0.99)
        learner.learn()
    report = dbg.close()
    assert report.suspects[0].component == "policy-loss"
    assert report.command == "attach"
    err = capsys.readouterr().err
    assert f"[{report.roots[0].code}]" in err
    assert "rldebug report .rldebug/runs/mine" in err
    meta = json.loads((RUNS / "mine" / "run.json").read_text())
    assert meta["state"] == "finished"
    assert meta["declared"] == {"algorithm": "reinforce", "gamma": 0.99}
    assert meta["updates"] == 12
    assert (RUNS / "mine" / "findings.jsonl").read_text().count("\n") == len(report.findings)


def test_quiet_about_a_sound_loop_and_the_report_so_far_leaves_it_running(capsys):
    learner = Learner()
    dbg = rldebug.attach(quiet=True)
    learner.learn(6)
    early = dbg.report()
    learner.learn(6)
    late = dbg.close()
    assert [each.code for each in (*early.findings, *late.findings) if each.severity != "note"] == []
    assert dbg.updates == 12
    assert dbg.close() is late
    assert capsys.readouterr() == ("", "")


def test_says_so_where_nothing_was_trained(capsys):
    rldebug.attach().close()
    assert "nothing was checked" in capsys.readouterr().err


def test_what_a_buffer_holds_is_measured_with_every_rollout():
    learner = Learner()
    with rldebug.attach(quiet=True) as dbg:
        learner.learn(8, dbg)
        with pytest.raises(HandoverError, match="reward"):
            dbg.rollout(reward="nothing")
    assert len(read_run(dbg.path)["value/mean"]) >= 4
    assert dbg.broken == {}


def test_changes_nothing():
    alone = Learner().learn()
    seen = Learner()
    random.seed(3)
    np.random.seed(3)
    before = random.getstate(), np.random.get_state()[1].tolist()
    with rldebug.attach(quiet=True, overhead_budget=1.0) as dbg:
        seen.learn()
    assert torch.equal(alone.weights, seen.weights)
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before
    assert dbg.broken == {}


def test_every_hook_is_taken_away():
    before = [Optimizer.step, torch.Tensor.backward, nn.Module.__call__, gym.Env.step, Categorical.sample]
    with rldebug.attach(quiet=True):
        Learner().learn(2)
        assert sessions.current() is not None
    assert sessions.current() is None
    assert [Optimizer.step, torch.Tensor.backward, nn.Module.__call__, gym.Env.step, Categorical.sample] == before


def test_a_second_one_joins_the_first(capsys):
    with rldebug.attach(run="outer") as outer:
        with rldebug.attach(run="inner") as inner:
            assert inner.joined
            assert inner.path == outer.path
            Learner().learn(4)
        assert capsys.readouterr().err == ""
        assert sessions.current() is not None
    assert [each.name for each in RUNS.iterdir()] == ["outer"]


def twice(loss):
    loss.backward()
    loss.backward()


def test_what_fails_inside_is_explained_and_goes_on_its_way():
    loss = nn.Linear(2, 1)(torch.ones(2)).square().sum()
    dbg = rldebug.attach(quiet=True)
    with pytest.raises(RuntimeError, match="second time") as caught, dbg:
        twice(loss)
    assert any("rldebug:" in each for each in caught.value.__notes__)
    assert "autograd-graph" in [each.component for each in dbg.close().suspects]
    assert json.loads((dbg.path / "run.json").read_text())["state"] == "crashed"


def test_a_misspelt_rule_or_a_senseless_budget_is_said_at_once():
    with pytest.raises(ConfigError, match="entropy-colapse"):
        rldebug.attach(ignore=["entropy-colapse"])
    with pytest.raises(ValueError, match=r"share, like 0.03"):
        rldebug.attach(overhead_budget=3)
    assert sessions.current() is None
    assert not RUNS.exists()


PROGRAM = """
import rldebug, torch
from torch import nn
net = nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
dbg = rldebug.attach(run="late")
for _ in range(5):
    optimizer.zero_grad()
    net(torch.ones(8, 2)).square().mean().backward()
    optimizer.step()
print(dbg.joined)
"""


@pytest.mark.parametrize("words", [("program.py",), ("-m", "rldebug", "run", "program.py")], ids=["alone", "under run"])
def test_a_script_that_ends_without_closing_is_closed_and_under_run_it_joins(words):
    Path("program.py").write_text(PROGRAM)
    env = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "100"}
    said = subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=60, env=env, check=True)
    joined = len(words) > 1
    assert said.stdout == f"{joined}\n"
    name = "program" if joined else "late"
    assert [each.name for each in RUNS.iterdir()] == [name]
    assert said.stderr.count("rules ran") == 1
    assert json.loads((RUNS / name / "run.json").read_text())["updates"] == 5


OPTIONAL = """
import sys
import torch
from torch import nn
import rldebug
RESIDUAL = len(sys.argv) > 1
net, frozen = nn.Linear(3, 2), nn.Linear(3, 2)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)

def improve(obs, action, reward, after, over):
    guess = net(obs).gather(1, action[:, None]).squeeze(1)
    if RESIDUAL:
        y = reward + 0.9 * (1 - over) * net(after).max(1).values
    else:
        with torch.no_grad():
            y = reward + 0.9 * (1 - over) * frozen(after).max(1).values
    loss = ((guess - y) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

with rldebug.attach(quiet=True) as dbg:
    for step in range(40):
        improve(torch.randn(8, 3), torch.randint(2, (8,)), torch.randn(8), torch.randn(8, 3), torch.zeros(8))
        if step % 10 == 0:
            frozen.load_state_dict(net.state_dict())
print(*[each.code for each in dbg.close().findings if each.severity != "note"])
"""


@pytest.mark.parametrize(("words", "found"), [((), []), (("residual",), ["VAL620"])], ids=["off", "on"])
def test_what_an_option_has_switched_off_is_not_held_against_the_program(words, found):
    Path("optional.py").write_text(OPTIONAL)
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    told = [sys.executable, "optional.py", *words]
    said = subprocess.run(told, capture_output=True, text=True, timeout=60, env=env, check=True)
    assert [each for each in said.stdout.split() if each == "VAL620"] == found
