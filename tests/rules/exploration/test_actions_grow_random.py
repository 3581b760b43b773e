import numpy as np
import torch

from rldebug.rules.exploration.actions_grow_random import ActionsGrowRandom
from rldebug.rules.exploration.actions_stay_random import ActionsStayRandom
from tests.programs.data import Drift
from tests.programs.targets import found, net, q_learner, seen, tensor
from tests.watched import watched

RULE = ActionsGrowRandom(updates=80, steps=16, early=0.35, late=0.6)


def grows(step: int) -> float:
    return min(1.0, max(0.0, (step - 40) / 40))


def falls(step: int) -> float:
    return max(0.05, 1 - step / 60)


def test_fires_where_epsilon_grows():
    assert found(RULE, watched(lambda: q_learner(epsilon=grows), overhead_budget=10.0)[1])


def test_quiet_where_it_falls():
    assert not found(RULE, seen("q_learner", epsilon=falls))


def in_turn(epsilon, steps=160):
    """A list of environments; the network is asked about all at once."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    envs = [Drift() for _ in range(4)]
    q = net(3)
    optimizer = torch.optim.Adam(q.parameters(), lr=3e-3)
    memory = []
    obs = [env.reset(seed=each)[0] for each, env in enumerate(envs)]
    for step in range(steps):
        with torch.no_grad():
            best = q(tensor(np.stack(obs))).argmax(1).tolist()
        for at, env in enumerate(envs):
            action = int(rng.integers(3)) if rng.random() < epsilon(step) else best[at]
            after, reward, ended, cut, _ = env.step(action)
            memory.append((obs[at], action, reward, after, ended))
            obs[at] = env.reset()[0] if ended or cut else after
        if len(memory) < 32:
            continue
        picked = [memory[each] for each in rng.integers(0, len(memory), 16)]
        s, a, r, t, d = (np.array(each) for each in zip(*picked, strict=True))
        with torch.no_grad():
            target = tensor(r) + 0.9 * (1 - tensor(d)) * q(tensor(t)).max(1).values
        loss = (q(tensor(s)).gather(1, torch.as_tensor(a)[:, None])[:, 0] - target).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def test_fires_on_environments_in_turn():
    script = watched(lambda: in_turn(grows), overhead_budget=10.0)[1]
    assert found(RULE, script)
    stays = ActionsStayRandom(updates=60, steps=16, early=0.35, late=0.6)
    assert not found(stays, script)


def test_quiet_on_environments_in_turn():
    assert not found(RULE, watched(lambda: in_turn(falls), overhead_budget=10.0)[1])
