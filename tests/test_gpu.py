"""On a CUDA device: one transfer per recorded update and no wait in between, and bit-identical training."""

import warnings

import pytest
import torch
from torch import nn
from torch.distributions import Categorical

import rldebug

pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
    pytest.mark.filterwarnings("ignore:Synchronization debug mode"),  # torch's own, on being asked to count waits
]
ROWS = 256


def train(watch, updates=12, **arguments):
    torch.manual_seed(0)
    policy = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 4)).cuda()
    critic = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 1)).cuda()
    optimizer = torch.optim.Adam([*policy.parameters(), *critic.parameters()], lr=1e-3)
    obs = torch.randn(32, 8, 8, device="cuda")
    action = torch.randint(0, 4, (32, 8), device="cuda")
    reward = torch.randn(32, 8)
    ends = torch.rand(32, 8) < 0.1
    dbg = watch(policy, critic, optimizer, **arguments)
    syncs = []
    for _ in range(updates):
        with torch.no_grad():
            logp = Categorical(logits=policy(obs), validate_args=False).log_prob(action)
            value = critic(obs).squeeze(-1)
            acting = {"obs": obs, "action": action, "reward": reward.cuda(), "terminated": ends.cuda()}
        torch.cuda.synchronize()
        torch.cuda.set_sync_debug_mode("warn")
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            if dbg is not None:
                dbg.rollout(**acting, value=value, logp=logp)
            dist = Categorical(logits=policy(obs.reshape(-1, 8)), validate_args=False)
            logp_new = dist.log_prob(action.reshape(-1))
            predicted = critic(obs.reshape(-1, 8)).squeeze(-1)
            advantage = torch.linspace(-1, 1, ROWS, device="cuda")
            target = torch.linspace(0, 2, ROWS, device="cuda")
            policy_loss = -(logp_new * advantage).mean()
            value_loss = (predicted - target).square().mean()
            optimizer.zero_grad()
            (policy_loss + value_loss).backward()
            optimizer.step()
            if dbg is not None:
                dbg.update(
                    loss={"policy": policy_loss, "value": value_loss},
                    logp_old=logp.reshape(-1), logp_new=logp_new, value=predicted, target=target,
                    advantage=advantage, dist=dist,
                )  # fmt: skip
        torch.cuda.set_sync_debug_mode("default")
        syncs.append(sum("synchron" in str(each.message) for each in seen))
    weights = [each.detach().cpu() for each in [*policy.parameters(), *critic.parameters()]]
    return weights, syncs, torch.cuda.get_rng_state(), dbg


def watched(policy, critic, optimizer, **arguments):
    return rldebug.watch(policy=policy, critic=critic, optimizer=optimizer, quiet=True, **arguments)


def test_one_transfer_per_recorded_update(tmp_path):
    _, bare, _, _ = train(lambda *a: None)
    _, syncs, _, dbg = train(watched, folder=tmp_path, every=1, detail=1)
    assert not dbg.broken, dbg.broken
    extra = [with_us - without for with_us, without in zip(syncs, bare, strict=True)]
    assert max(extra) <= 1, f"waits per update: {extra}"
    assert sum(extra) > 0


def test_watching_changes_nothing(tmp_path):
    bare, _, rng, _ = train(lambda *a: None)
    weights, _, rng_watched, _ = train(watched, folder=tmp_path, every=1, detail=1)
    assert all(torch.equal(one, other) for one, other in zip(bare, weights, strict=True))
    assert torch.equal(rng, rng_watched)


def test_memory_is_read(tmp_path):
    *_, dbg = train(watched, folder=tmp_path)
    run = rldebug.read_run(dbg.path)
    assert run["gpu/allocated"].last > 0
    assert run["gpu/reserved"].last >= run["gpu/allocated"].last
