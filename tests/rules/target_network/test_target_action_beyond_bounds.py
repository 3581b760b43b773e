import copy

import numpy as np
import torch

from rldebug.rules.target_network.target_action_beyond_bounds import TargetActionBeyondBounds
from tests.judge import fires, not_enough, quiet
from tests.programs.actor_critic import script
from tests.programs.data import WIDTH, Drift, net, tensor
from tests.watched import findings

rule = TargetActionBeyondBounds()


def smoothed(clamp, noise=torch.randn, bias=1.5, steps=100):
    """A critic whose target actions get noise; the actor likes the upper end of the range."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    env, actor, critic = Drift(box=True), torch.nn.Sequential(net(1), torch.nn.Tanh()), net(1, WIDTH + 1)
    torch.nn.init.constant_(actor[0][2].bias, bias)
    slow = copy.deepcopy(critic)
    optimizer = torch.optim.Adam(critic.parameters(), 1e-3)
    memory = []
    obs, _ = env.reset()
    for step in range(steps):
        with torch.no_grad():
            said = actor(tensor(obs)[None])[0].numpy()
        action = np.clip(said + rng.normal(0, 0.9, 1), -1, 1) if step % 2 else rng.uniform(-1, 1, 1)
        after, reward, terminated, truncated, _ = env.step(action)
        memory.append((obs, action, reward, after, terminated))
        obs = env.reset()[0] if terminated or truncated else after
        if step < 40:
            continue
        rows = [memory[each] for each in rng.permutation(len(memory))[:32]]
        s, a, r, s2, end = (tensor([each[place] for each in rows]) for place in range(5))
        with torch.no_grad():
            a2 = actor(s2) + 0.3 * noise(32, 1)
            a2 = a2.clamp(-1, 1) if clamp else a2
            target = r + 0.9 * (1 - end) * slow(torch.cat([s2, a2], 1))[:, 0]
        loss = ((critic(torch.cat([s, a], 1))[:, 0] - target) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        for own, theirs in zip(slow.parameters(), critic.parameters(), strict=True):
            own.data.lerp_(theirs.data, 0.01)


def test_fires_in_a_program_that_does_not_clamp():
    assert findings(lambda: smoothed(clamp=False), rule.code)


def test_quiet_in_a_program_that_clamps():
    assert not findings(lambda: smoothed(clamp=True), rule.code)


def wide(random, shape):
    return 0.8 * random.normal(size=shape)


def wild(random, shape):
    return 1.5 * random.normal(size=shape)


def test_fires_where_nothing_is_clamped():
    seen = script(smooth=wide, noise=wild)
    assert "of 1024 target actions" in fires(rule, seen).seen


def test_quiet_where_all_stays_within():
    quiet(rule, script(noise=wild))


def test_declines_without_enough_of_them():
    not_enough(rule, script(audits=1))
