"""A critic stepped on the gradient of the actor."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn, optim

from rldebug.rules.optimizer.critic_moved_by_actor_loss import CriticMovedByActorLoss
from tests.programs import learning
from tests.programs.data import Drift, tensor
from tests.watched import findings

rule = CriticMovedByActorLoss()


def shared_trunk(holds_critic: bool = False) -> None:
    """What an encoder makes of observations is given to the actor and to the critic; both losses train it."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    env = Drift(box=True)
    trunk = nn.Sequential(nn.Linear(3, 16), nn.Tanh())
    actor, critic = nn.Sequential(nn.Linear(16, 1), nn.Tanh()), nn.Linear(17, 1)
    more = critic.parameters() if holds_critic else ()
    actor_step = optim.Adam([*trunk.parameters(), *actor.parameters(), *more], lr=1e-3)
    critic_step = optim.Adam([*trunk.parameters(), *critic.parameters()], lr=1e-3)
    memory: list[Any] = []
    obs, _ = env.reset()
    for _ in range(60):
        with torch.no_grad():
            action = actor(trunk(tensor(obs)[None])).numpy()[0]
        action = np.clip(action + 0.2 * rng.normal(size=1), -1, 1).astype(np.float32)
        after, reward, ended, cut, _ = env.step(action)
        memory.append((obs, action, reward))
        obs = env.reset()[0] if ended or cut else after
        if len(memory) < 16:
            continue
        picked = [memory[each] for each in rng.integers(0, len(memory), 16)]
        s, a, r = (tensor(each) for each in zip(*picked, strict=True))
        critic_loss = (critic(torch.cat([trunk(s), a], 1))[:, 0] - r).square().mean()
        critic_step.zero_grad()
        critic_loss.backward()
        critic_step.step()
        seen = trunk(s)
        actor_loss = -critic(torch.cat([seen, actor(seen)], 1)).mean()
        actor_step.zero_grad()
        actor_loss.backward()
        actor_step.step()


def test_fires_on_an_actors_optimizer_that_holds_the_critic() -> None:
    (found,) = findings(lambda: learning.actor_critic("holds critic"), rule.code)
    assert "critic" in found.message


def test_quiet_on_the_actors_loss_may_lead_through_the_critic() -> None:
    _, script = learning.seen("actor_critic")
    assert not list(rule.check(script))


def test_quiet_on_a_trunk_that_values_and_actions_share() -> None:
    assert not findings(shared_trunk, rule.code)


def test_fires_on_the_critic_beside_a_shared_trunk() -> None:
    (found,) = findings(lambda: shared_trunk(holds_critic=True), rule.code)
    assert found.message == "the actor's loss moves the critic critic"
