from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from rldebug.rules.normalisation import reward_shifted_by_its_mean as module
from rldebug.rules.normalisation.reward_shifted_by_its_mean import RewardShiftedByItsMean
from tests.forensics.simulated import Array, Rollout, gae, replace
from tests.judge import fires, not_enough, quiet
from tests.programs.data import Drift, net
from tests.programs.formulas import on_policy
from tests.watched import watched

ENDED = {"terminated": [True] * 20 + [False] * 20, "lengths": [7, 12, 30] * 10}


@pytest.fixture
def _ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "training_streams", lambda script: [ENDED])


def standardised(shift: float, moving: bool = True, scaled: bool = True) -> Callable[[Rollout], Array]:
    """Rewards by a running deviation, less a share of a running mean."""

    def make(of: Rollout) -> Array:
        drift = np.cumsum(np.abs(np.random.default_rng(1).normal(size=len(of.reward)))) / 2000
        drift = (drift if moving else np.full(len(drift), 0.1))[:, None]
        reward = (of.reward - shift * (1.0 + drift)) * (0.5 + drift if scaled else 1.0)
        return gae(replace(of, reward=reward), 0.97, 0.9)

    return make


@pytest.mark.usefixtures("_ended")
@pytest.mark.parametrize("shift", [0.5, -0.2])
def test_fires_where_a_running_mean_is_taken_off(shift: float) -> None:
    assert f"{shift:.0g}"[:-1] in fires(RewardShiftedByItsMean(), on_policy(standardised(shift), lanes=8)).seen


@pytest.mark.usefixtures("_ended")
@pytest.mark.parametrize(
    "make", [gae, standardised(0.5, moving=False), standardised(0.0), standardised(0.0, scaled=False)]
)
def test_says_nothing_where_rewards_are_scaled_only_or_by_constants(make: Any) -> None:
    not_enough(RewardShiftedByItsMean(), on_policy(make, lanes=8))


def test_declines_where_episodes_do_not_end_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "training_streams", lambda script: [{**ENDED, "terminated": [False] * 40}])
    not_enough(RewardShiftedByItsMean(), on_policy(standardised(0.5), lanes=8))


@pytest.mark.usefixtures("_ended")
def test_quiet_on_noise() -> None:
    draw = np.random.default_rng(3)
    quiet(RewardShiftedByItsMean(), on_policy(lambda of: draw.normal(size=of.reward.shape), lanes=8))


class Scaled:
    """Rewards by the deviation of all that were seen so far; less their mean, where it is asked to."""

    def __init__(self, centred: bool) -> None:
        self.centred, self.seen = centred, [0.0, 2.0]

    def __call__(self, rewards: list[float]) -> Array:
        self.seen += rewards
        return (np.array(rewards) - self.centred * np.mean(self.seen)) / np.std(self.seen)


def program(centred: bool, lanes: int = 6, gamma: float = 0.95) -> None:
    torch.manual_seed(0)
    envs, scale = [Drift(seed, limit=25) for seed in range(lanes)], Scaled(centred)
    actor, critic = net(3), net(1)
    opt = torch.optim.Adam([*actor.parameters(), *critic.parameters()], 1e-3)
    obs = np.stack([env.reset()[0] for env in envs])
    for _ in range(10):
        seen, acts, rewards, over = [], [], [], []
        values = []
        for _ in range(24):
            with torch.no_grad():
                act = torch.distributions.Categorical(logits=actor(torch.as_tensor(obs))).sample()
                values.append(critic(torch.as_tensor(obs))[:, 0])
            seen.append(torch.as_tensor(obs))
            acts.append(act)
            stepped = [env.step(int(each)) for env, each in zip(envs, act, strict=True)]
            rewards.append(torch.as_tensor(scale([each[1] + 3.0 for each in stepped])).float())
            over.append(torch.tensor([float(each[2] or each[3]) for each in stepped]))
            ends = [each[2] or each[3] for each in stepped]
            obs = np.stack(
                [env.reset()[0] if end else each[0] for env, each, end in zip(envs, stepped, ends, strict=True)]
            )
        with torch.no_grad():
            after, carried, targets = critic(torch.as_tensor(obs))[:, 0], torch.zeros(lanes), []
            for t in reversed(range(24)):
                delta = rewards[t] + gamma * (1 - over[t]) * after - values[t]
                carried = delta + gamma * 0.9 * (1 - over[t]) * carried
                targets.append(carried + values[t])
                after = values[t]
        target, rows = torch.cat(targets[::-1]), torch.cat(seen)
        logp = torch.distributions.Categorical(logits=actor(rows)).log_prob(torch.cat(acts))
        loss = -(logp * (target - torch.cat(values))).mean() + (critic(rows)[:, 0] - target).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


def test_fires_on_a_program_that_does_so() -> None:
    fires(RewardShiftedByItsMean(), watched(lambda: program(True))[1])


def test_quiet_on_the_program_that_adds_a_constant_and_divides() -> None:
    quiet(RewardShiftedByItsMean(), watched(lambda: program(False))[1])
