import copy

import numpy as np
import torch
import torch.nn.functional as F

from rldebug.rules.entropy.entropy_left_out_of_target import EntropyLeftOutOfTarget
from tests.judge import fires, not_enough, quiet
from tests.programs.actor_critic import script
from tests.programs.data import Drift, net, tensor
from tests.watched import findings

rule = EntropyLeftOutOfTarget()


def test_fires_where_the_target_is_value_alone():
    assert "weighs the log-prob with 0.2" in fires(rule, script()).seen


def test_declines_where_the_actor_is_not_paid_either():
    not_enough(rule, script(factor=None))


def test_quiet_where_the_target_holds_the_log_prob():
    quiet(rule, script(soft=True))


def discrete(soft: bool) -> None:
    """An actor that learns from the values of all actions at once."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    env, policy, critics = Drift(), net(3), [net(3), net(3)]
    slow = copy.deepcopy(critics)
    learns = torch.optim.Adam([weight for each in critics for weight in each.parameters()], 1e-3)
    acts = torch.optim.Adam(policy.parameters(), 1e-3)
    memory = []
    obs, _ = env.reset()
    for step in range(100):
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
            value = torch.min(*(each(s2) for each in slow)) - (0.1 * logs if soft else 0.0)
            target = r + 0.9 * (1 - end) * (logs.exp() * value).sum(-1)
        chosen = (each(s).gather(1, a.long()[:, None])[:, 0] for each in critics)
        learns.zero_grad()
        sum(((each - target) ** 2).mean() for each in chosen).backward()
        learns.step()
        logs = F.log_softmax(policy(s), -1)
        with torch.no_grad():
            worth = torch.min(*(each(s) for each in critics))
        acts.zero_grad()
        (logs.exp() * (0.1 * logs - worth)).sum(-1).mean().backward()
        acts.step()


def test_fires_where_a_discrete_actor_is_paid_for_entropy_and_the_target_is_value_alone():
    (finding,) = findings(lambda: discrete(soft=False), rule.code)
    assert "weighs the log-prob with 0.1" in finding.seen


def test_quiet_where_the_target_of_a_discrete_actor_holds_the_log_probs():
    assert not findings(lambda: discrete(soft=True), rule.code)
