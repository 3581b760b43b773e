import copy

import numpy as np
import torch
import torch.nn.functional as F

from rldebug.rules.value_loss.next_values_not_weighted import NextValuesNotWeighted
from tests.programs.data import Drift, net, tensor
from tests.watched import findings

CODE = NextValuesNotWeighted.code


def discrete_sac(fault="", alpha=0.1, gamma=0.9, steps=100):
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    env, policy, critics = Drift(), net(3), [net(3), net(3)]
    slow = copy.deepcopy(critics)
    optimizer = torch.optim.Adam([weight for each in critics for weight in each.parameters()], 1e-3)
    memory = []
    obs, _ = env.reset()
    for step in range(steps):
        with torch.no_grad():
            chance = F.softmax(policy(tensor(obs)[None]), -1)[0]
        action = int(torch.multinomial(chance, 1))
        after, reward, terminated, truncated, _ = env.step(action)
        memory.append((obs, action, reward, after, terminated))
        obs = env.reset()[0] if terminated or truncated else after
        if step < 40:
            continue
        rows = [memory[each] for each in rng.permutation(len(memory))[:32]]
        s, a, r, s2, end = (tensor([each[place] for each in rows]) for place in range(5))
        with torch.no_grad():
            logs = F.log_softmax(policy(s2), -1)
            soft = torch.min(*(each(s2) for each in slow)) - alpha * logs
            after = {
                "": (logs.exp() * soft).sum(-1),
                "summed": soft.sum(-1),
                "mean of the products": (logs.exp() * soft).mean(-1),
            }[fault]
            target = r + gamma * (1 - end) * after
        chosen = (each(s).gather(1, a.long()[:, None])[:, 0] for each in critics)
        loss = sum(((each - target) ** 2).mean() for each in chosen)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def test_fires_where_values_are_added_up():
    (finding,) = findings(lambda: discrete_sac("summed"), CODE)
    assert "sum of the next values" in finding.seen


def test_fires_where_the_mean_of_the_products_is_taken():
    (finding,) = findings(lambda: discrete_sac("mean of the products"), CODE, without=())
    assert "divided by the 3 actions" in finding.seen


def test_quiet_where_they_are_weighted():
    assert not findings(discrete_sac, CODE)


def test_quiet_where_the_discount_is_low():
    assert not findings(lambda: discrete_sac(gamma=0.5), CODE, without=())
