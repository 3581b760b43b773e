"""A recurrent policy whose memory is emptied inside of it, by a flag: ratios of the first loss tell where."""

from __future__ import annotations

from functools import lru_cache

import gymnasium as gym
import pytest
import torch
from tests.programs.data import WIDTH, Drift, tensor
from tests.watched import watched
from torch import Tensor, nn
from torch.distributions import Categorical

from rldebug.evidence.script import Script
from rldebug.forensics.memory_ratios import MemoryRatios, memory_ratios
from rldebug.rule import NotEnough
from rldebug.rules.buffer.memory_unlike_acting import MemoryUnlikeActing

LANES, LONG = 6, 12


class Memory(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rnn, self.head = nn.GRU(WIDTH, 8), nn.Linear(8, 3)
        with torch.no_grad():
            self.head.weight.mul_(4)

    def forward(self, x: Tensor, state: Tensor, starts: Tensor) -> tuple[Categorical, Tensor]:
        outs = []
        for now, start in zip(x, starts, strict=True):
            out, state = self.rnn(now[None], state * (1 - start)[None, :, None])
            outs.append(out)
        return Categorical(logits=self.head(torch.cat(outs))), state


def recurrent_ppo(bug: str, phases: int = 7) -> None:
    torch.manual_seed(0)
    envs = gym.vector.SyncVectorEnv(
        [lambda seed=seed: Drift(seed, limit=5) for seed in range(LANES)],
        autoreset_mode=gym.vector.AutoresetMode.SAME_STEP,
    )
    net = Memory()
    optimizer = torch.optim.Adam(net.parameters(), 3e-3)
    obs, _ = envs.reset()
    start, state = torch.ones(LANES), torch.zeros(1, LANES, 8)
    for _ in range(phases):
        rows, begun = [], state
        for _ in range(LONG):
            with torch.no_grad():
                acting = torch.zeros(1, LANES) if bug == "acting" else start[None]
                dist, state = net(tensor(obs)[None], state, acting)
                action = dist.sample()
                logp = dist.log_prob(action)
            before = obs.copy()
            obs, reward, ended, cut, _ = envs.step(action[0].numpy())
            done = tensor(ended | cut)
            rows.append((tensor(before), action[0], logp[0], tensor(reward), done if bug == "early" else start))
            start = done
        s, a, old, weight, starts = (torch.stack(each) for each in zip(*rows, strict=True))
        begun = torch.zeros_like(begun) if bug == "begun anew" else begun
        for _ in range(2):
            dist, _ = net(s, begun, torch.zeros_like(starts) if bug == "training" else starts)
            ratio = (dist.log_prob(a) - old).exp()
            loss = -torch.min(ratio * weight, ratio.clamp(0.8, 1.2) * weight).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


@lru_cache(maxsize=8)
def seen(bug: str) -> Script:
    return watched(lambda: recurrent_ppo(bug))[1]


def ratios(bug: str) -> MemoryRatios:
    return memory_ratios(seen(bug))


def found(bug: str) -> list[str]:
    try:
        return [each.seen for each in MemoryUnlikeActing().check(seen(bug))]
    except NotEnough:
        return []


@pytest.mark.parametrize("bug", ["acting", "training"])
def test_a_memory_that_is_emptied_in_one_place_only(bug: str) -> None:
    assert (ratios(bug).share("begins", 8) or 0.0) > 0.9
    assert ratios(bug).share("carried", 8) == 0.0
    assert "begins" in found(bug)[0]


def test_a_memory_that_is_emptied_too_early() -> None:
    assert ratios("early").share("ends", 8) == 1.0
    assert "last step" in found("early")[0]


def test_all_ratios_are_one_where_it_is_the_same() -> None:
    assert ratios("").audits >= 2
    assert sum(ratios("").off.values()) == 0
    assert not found("")


def test_sequences_that_begin_with_an_empty_memory_are_accepted() -> None:
    assert ratios("begun anew").share("begins", 8) == 0.0
    assert not found("begun anew")
