import dataclasses

import gymnasium
import torch

from rldebug.evidence.script import Script
from rldebug.forensics import roles
from rldebug.rules.seeding import evaluation_env_shares_training_seed as here
from rldebug.rules.seeding.evaluation_env_shares_training_seed import EvaluationEnvSharesTrainingSeed
from tests.judge import fires, not_enough, quiet
from tests.watched import watched

rule = EvaluationEnvSharesTrainingSeed()


def script(monkeypatch, evaluation, name="CartPole-v1", lanes=4):
    found = dataclasses.replace(roles.Roles(), stream=0, others=frozenset({1}))
    monkeypatch.setattr(here, "roles_of", lambda _: found)
    streams = {
        "0": {"index": 0, "name": "CartPole-v1", "lanes": lanes, "seeds": [7], "steps": 99},
        "1": {"index": 1, "name": name, "lanes": 1, "seeds": evaluation, "steps": 9},
    }
    return Script(things={"stream": streams})


def test_fires_when_a_seed_is_shared(monkeypatch):
    fires(rule, script(monkeypatch, [7, None]))
    fires(rule, script(monkeypatch, [9]))  # one of the four lanes


def test_quiet_when_the_seeds_differ(monkeypatch):
    quiet(rule, script(monkeypatch, [10_007]))
    quiet(rule, script(monkeypatch, [None]))


def test_quiet_when_it_is_another_environment(monkeypatch):
    quiet(rule, script(monkeypatch, [7], name="Other-v0"))


def test_declines_without_an_evaluation():
    not_enough(rule, Script())


def program(seed):
    def run():
        torch.manual_seed(0)
        env, other = gymnasium.make("CartPole-v1"), gymnasium.make("CartPole-v1")
        net = torch.nn.Linear(4, 2)
        opt = torch.optim.SGD(net.parameters(), 0.01)
        obs, _ = env.reset(seed=7)
        for _ in range(3):
            kept = []
            for _ in range(12):
                dist = torch.distributions.Categorical(logits=net(torch.as_tensor(obs)[None]))
                action = dist.sample()
                obs, reward, terminated, _, _ = env.step(int(action))
                kept.append(-dist.log_prob(action) * reward)
                if terminated:
                    obs, _ = env.reset()
            opt.zero_grad()
            torch.cat(kept).mean().backward()
            opt.step()
        seen, _ = other.reset(seed=seed)
        with torch.no_grad():
            for _ in range(5):
                seen, *_ = other.step(int(net(torch.as_tensor(seen)[None]).argmax()))

    return run


def test_fires_on_a_program_that_evaluates_with_its_own_seed():
    fires(rule, watched(program(7))[1])


def test_quiet_on_the_program_that_evaluates_with_another():
    quiet(rule, watched(program(10_007))[1])
