import json
import random

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import nn
from torch.distributions import Categorical

from rldebug.capture import scouting
from rldebug.capture import session as sessions
from rldebug.capture.session import Options, Session
from tests.watched import watched


def actor_critic(rounds=6, *, scale=1.0, envs=2, steps=20):
    torch.manual_seed(0)
    np.random.seed(0)
    random.seed(0)
    many = gym.make_vec("CartPole-v1", num_envs=envs, vectorization_mode="sync")
    policy = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
    value = nn.Linear(4, 1)
    optimizer = torch.optim.Adam([*policy.parameters(), *value.parameters()], lr=1e-2)
    obs, _ = many.reset(seed=1)
    for _ in range(rounds):
        rows, chosen, paid = [], [], []
        for _ in range(steps):
            seen = torch.as_tensor(obs, dtype=torch.float32) * scale
            with torch.no_grad():
                action = Categorical(logits=policy(seen)).sample()
            obs, reward, *_ = many.step(action.numpy())
            rows.append(seen), chosen.append(action), paid.append(torch.as_tensor(reward, dtype=torch.float32))
        batch, target = torch.cat(rows), torch.cat(paid)
        logp = Categorical(logits=policy(batch)).log_prob(torch.cat(chosen))
        guess = value(batch)[:, 0]
        loss = -(logp * (target - guess).detach()).mean() + (guess - target).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return [each.detach().clone() for each in (*policy.parameters(), *value.parameters())]


def test_phases_are_acting_and_then_learning():
    _, script = watched(actor_critic)
    assert script.counts["updates"] == 6
    assert script.counts["phases"] == 5
    first = script.audits[0]
    assert first.phase == 0
    assert len(first.of("loss")) == 1
    assert first.of("step")
    (acting,) = [each for each in first.acting if each["module"] == "policy"]
    assert acting["calls"] in (20, 21)  # the last one belongs to the next phase
    assert not acting["grad"]


@pytest.mark.parametrize("scale", [1.0, 0.25])
def test_rows_of_a_loss_are_traced_to_the_steps_they_came_from(scale):
    _, script = watched(lambda: actor_critic(scale=scale))
    for audit in script.audits[:2]:
        for term in audit.of("term"):
            rows = term.arrays["rows"]
            # An audit begins with the first call of the environment: what came before is found by raw rows only.
            late = 2 if scale != 1.0 and audit.number else 0
            assert len(rows) == 40
            assert (rows[late:] >= 0).all()
            assert term["match"] == ("raw" if scale == 1.0 else "alias")
            if term["kind"] == "policy":
                places = audit.nodes.index(rows[late:])
                assert (audit.nodes.action[places, 0] == term.arrays["index"][late:]).all()


def test_a_list_of_environments_is_acted_on_as_one():
    def program():
        torch.manual_seed(0)
        envs = [gym.make("CartPole-v1") for _ in range(3)]
        net = nn.Linear(4, 2)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        obs = [each.reset(seed=place)[0] for place, each in enumerate(envs)]
        for _ in range(3):
            for _ in range(8):
                with torch.no_grad():
                    action = Categorical(logits=net(torch.tensor(np.array(obs)) * 3 + 1)).sample()
                for place, each in enumerate(envs):
                    obs[place], _, ended, *_ = each.step(int(action[place]))
                    if ended:
                        obs[place], _ = each.reset()
            optimizer.zero_grad()
            net(torch.tensor(np.array(obs)) * 3 + 1).sum().backward()
            optimizer.step()

    _, script = watched(program)
    acting = script.audits[0].acting
    assert sum(each["calls"] for each in acting) >= 8
    assert all((each.arrays["rows"] >= 0).all() for each in acting)


def test_nothing_changes():
    def state():
        return torch.random.get_rng_state(), np.random.get_state()[1], random.getstate()

    bare, drawn = actor_critic(), state()
    kept = {}
    watched(lambda: kept.update(weights=actor_critic(), drawn=state()), overhead_budget=1.0)
    assert all(torch.equal(*each) for each in zip(bare, kept["weights"], strict=True))
    assert torch.equal(drawn[0], kept["drawn"][0])
    assert (drawn[1] == kept["drawn"][1]).all()
    assert drawn[2] == kept["drawn"][2]


def test_everything_is_put_back():
    before = {name: vars(torch.autograd)[name] for name in ("backward", "grad")}
    step, build = gym.Env.__dict__["step"], __builtins__["__build_class__"]
    watched(lambda: actor_critic(1))
    assert all(vars(torch.autograd)[name] is each for name, each in before.items())
    assert gym.Env.__dict__["step"] is step
    assert __builtins__["__build_class__"] is build
    from torch.nn.modules import module

    assert not module._has_any_global_hook()
    assert not module._global_forward_hooks
    assert not module._global_forward_pre_hooks


def test_audits_stay_within_the_budget(tmp_path, monkeypatch):
    monkeypatch.setattr(sessions, "_GRACE", 0.0)
    _, none = watched(lambda: actor_critic(30, steps=2), tmp_path / "none", overhead_budget=0.0)
    _, all_ = watched(lambda: actor_critic(30, steps=2), tmp_path / "all", overhead_budget=1.0)
    assert none.counts["audits"] == 3 < all_.counts["audits"]


def test_an_optimizer_that_joins_later_is_looked_at_although_the_budget_is_spent(tmp_path, monkeypatch):
    monkeypatch.setattr(sessions, "_GRACE", 0.0)
    monkeypatch.setattr(scouting, "_SECONDS", 0.0)  # no more for the sake of ends

    def program():
        for _ in range(4):
            actor_critic(8)

    _, script = watched(program, tmp_path, overhead_budget=1e-9)
    looked = [each.update for each in script.audits if each.of("loss") and each.acting]
    first, second, third, fourth = ([each for each in looked if each // 8 == sitting] for sitting in range(4))
    assert len(first) == 3
    assert len(second) >= 2 <= len(third)
    assert not fourth
    for audit in script.audits:
        for term in audit.terms("policy"):
            assert (term.arrays["rows"] >= 0).all()


def test_the_folder_stays_small(tmp_path, monkeypatch):
    monkeypatch.setattr(sessions, "_KEPT", 20)
    session = Session(tmp_path)
    session.install()
    try:
        for _ in range(60):
            session._end()
            session._begin()
    finally:
        session.finish()
    files = sorted(each.name for each in (tmp_path / "audits").iterdir())
    assert len(files) <= 21
    assert files[:8] == [f"{each:05d}.npz" for each in range(8)]
    assert files[-1] == "00060.npz"


def test_a_program_without_an_environment_is_audited_by_its_updates():
    def program():
        net = nn.Linear(2, 1)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(40):
            optimizer.zero_grad()
            (net(torch.ones(3, 2)) - 1).square().mean().backward()
            optimizer.step()

    _, script = watched(program)
    assert script.counts["audits"] >= 2
    assert script.counts["env_steps"] == 0
    assert {term["kind"] for _, term in script.events("term")} == {"regression"}


def test_what_is_noted_is_bounded_and_valid(tmp_path):
    session = Session(tmp_path, Options())
    session.install()
    for number in range(600):
        session.note("seed", value=number, odd=float("nan"))
    session.finish()
    lines = (tmp_path / "script.jsonl").read_text(encoding="utf-8").splitlines()
    noted = [each for each in map(json.loads, lines) if each.get("kind") == "seed"]
    assert len(noted) == 256
    assert noted[0]["odd"] == "nan"


class Seldom(gym.Env):
    """Endless, but for the steps at which it is cut off."""

    observation_space = gym.spaces.Box(-np.inf, np.inf, (2,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def __init__(self, cuts):
        self.cuts, self.steps, self.draw = cuts, 0, np.random.default_rng(0)

    def reset(self, *, seed=None, options=None):
        return self.draw.normal(size=2).astype(np.float32), {}

    def step(self, action):
        self.steps += 1
        return self.draw.normal(size=2).astype(np.float32), 1.0, False, self.steps in self.cuts, {}


def learner(cuts, rounds=24, memory=False):
    torch.manual_seed(0)
    env, policy = Seldom(cuts), nn.Linear(2, 2)
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
    obs, _ = env.reset()
    rows, chosen = [], []
    for _ in range(rounds):
        if not memory:
            rows, chosen = [], []
        for _ in range(20):
            rows.append(torch.as_tensor(obs))
            chosen.append(Categorical(logits=policy(rows[-1])).sample())
            obs, _, _, cut, _ = env.step(int(chosen[-1]))
            if cut:
                obs, _ = env.reset()
        seen, acted = torch.stack(rows[:40]), torch.stack(chosen[:40])
        loss = -Categorical(logits=policy(seen)).log_prob(acted).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def cut_rows(script):
    return sum(int((each.nodes.truncated & (each.nodes.phase >= each.phase)).sum()) for each in script.audits)


def test_an_end_that_is_rare_is_waited_for(monkeypatch):
    monkeypatch.setattr(sessions.Session, "within_budget", lambda self: False)
    _, script = watched(lambda: learner(set(range(150, 480, 45))))
    assert cut_rows(script) >= 4
    assert script.counts["audits"] <= 3 + scouting._KEPT
    assert all(each.of("loss") for each in script.audits)  # what held no end was dropped


def test_nothing_is_waited_for_that_does_not_happen(monkeypatch):
    monkeypatch.setattr(sessions.Session, "within_budget", lambda self: False)
    _, script = watched(lambda: learner(set()))
    assert script.counts["audits"] == 3


def test_with_a_memory_no_end_is_waited_for(monkeypatch):
    monkeypatch.setattr(sessions.Session, "within_budget", lambda self: False)
    _, script = watched(lambda: learner(set(range(150, 480, 45)), memory=True))
    assert script.counts["audits"] == 3
