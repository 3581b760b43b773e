"""Watching changes nothing: bit-identical weights, untouched generators, the same calls to the environment."""

import copy
import functools
import pickle

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.envs.classic_control import AcrobotEnv, CartPoleEnv, PendulumEnv
from torch import nn
from torch.distributions import Categorical, Independent, Normal

import rldebug
from tests.bystander import NoWatch, calls_of, rng_state, same_weights, seed_everything
from tests.zoo import plant

OPTIMIZERS = {
    "sgd": functools.partial(torch.optim.SGD, lr=0.05, momentum=0.9),
    "sgd-foreach": functools.partial(torch.optim.SGD, lr=0.05, momentum=0.9, foreach=True),
    "adam": functools.partial(torch.optim.Adam, lr=3e-3, foreach=False),
    "adam-foreach": functools.partial(torch.optim.Adam, lr=3e-3, foreach=True),
    "adam-fused": functools.partial(torch.optim.Adam, lr=3e-3, fused=True),
}
BASES = {"ppo_discrete": 2, "a2c": 24, "dqn": 60, "reinforce": 6, "ppo_continuous": 1, "sac_like": 40}
DENSE = {"every": 1, "detail": 1}


def watching(folder, **more):
    """`watch` as a loop calls it, and the watches it made."""
    made = []

    def watch(**arguments):
        made.append(rldebug.watch(folder=folder, quiet=True, **arguments, **more))
        return made[-1]

    return watch, made


def actor_critic(watch, optimizer, continuous, num_envs, rollouts=5, steps=8, epochs=2):
    """A small loop that touches all three global generators and hands everything over."""
    seed_everything(7)
    make = functools.partial(gym.make, "Pendulum-v1" if continuous else "CartPole-v1")
    env = gym.vector.SyncVectorEnv([make] * num_envs) if num_envs > 1 else make()
    n_obs = 3 if continuous else 4
    policy = nn.Sequential(nn.Linear(n_obs, 16), nn.Tanh(), nn.Dropout(0.1), nn.Linear(16, 1 if continuous else 2))
    critic = nn.Sequential(nn.Linear(n_obs, 16), nn.ReLU(inplace=True), nn.Linear(16, 1))
    opt = optimizer([*policy.parameters(), *critic.parameters()])

    def dist_of(obs):
        out = policy(obs)
        return Independent(Normal(out, torch.ones_like(out)), 1) if continuous else Categorical(logits=out)

    with watch(policy=policy, critic=critic, optimizer=opt, env=env, gamma=0.9) as dbg:
        obs, _ = env.reset(seed=3)
        for _ in range(rollouts):
            rows = {key: [] for key in ("obs", "action", "reward", "terminated", "truncated", "value", "logp")}
            for _ in range(steps):
                seen = torch.as_tensor(np.asarray(obs), dtype=torch.float32).reshape(num_envs, -1)
                with torch.no_grad():
                    dist = dist_of(seen)
                    action = dist.sample()
                    rows["logp"].append(dist.log_prob(action))
                    rows["value"].append(critic(seen).squeeze(-1))
                given = action.numpy() if num_envs > 1 else (action[0].numpy() if continuous else int(action[0]))
                obs, reward, terminated, truncated, _ = env.step(given)
                rows["obs"].append(seen)
                rows["action"].append(action)
                for name, each in (("reward", reward), ("terminated", terminated), ("truncated", truncated)):
                    rows[name].append(torch.as_tensor(np.atleast_1d(each)))
                if num_envs == 1 and (terminated or truncated):
                    obs, _ = env.reset()
            data = {key: torch.stack(each) for key, each in rows.items()}
            dbg.rollout(**data)
            target = data["reward"].float().reshape(-1) + np.random.rand() * 0.01
            for _ in range(epochs):
                order = torch.randperm(steps * num_envs)
                flat = data["obs"].reshape(-1, n_obs)[order]
                dist = dist_of(flat)
                action = data["action"].reshape(steps * num_envs, *data["action"].shape[2:])[order]
                logp_new, logp_old = dist.log_prob(action), data["logp"].reshape(-1)[order]
                value = critic(flat).squeeze(-1)
                advantage = (target[order] - value).detach()
                policy_loss = -((logp_new - logp_old).exp() * advantage).mean()
                value_loss = (value - target[order]).square().mean()
                batch = {"logp_old": logp_old, "logp_new": logp_new, "value": value, "target": target[order]}
                dbg.update(loss={"policy": policy_loss, "value": value_loss}, advantage=advantage, dist=dist, **batch)
                opt.zero_grad()
                (policy_loss + value_loss).backward()
                opt.step()
    env.close()
    return nn.ModuleList([policy, critic])


@pytest.mark.parametrize("schedule", [{}, DENSE], ids=["default", "dense"])
@pytest.mark.parametrize("num_envs", [1, 4])
@pytest.mark.parametrize("continuous", [False, True], ids=["discrete", "continuous"])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_loop_is_left_alone(optimizer, continuous, num_envs, schedule, tmp_path):
    watch, made = watching(tmp_path, **schedule)
    with calls_of(CartPoleEnv, PendulumEnv) as expected:
        bare = actor_critic(NoWatch, OPTIMIZERS[optimizer], continuous, num_envs)
        state = rng_state()
    with calls_of(CartPoleEnv, PendulumEnv) as calls:
        watched = actor_critic(watch, OPTIMIZERS[optimizer], continuous, num_envs)
        assert rng_state() == state
    assert same_weights(bare, watched)
    assert calls == expected
    assert len(calls) >= 40
    assert not made[0].broken, made[0].broken
    assert len(rldebug.read_run(made[0].path).readings) == 10


@pytest.mark.parametrize("schedule", [{}, DENSE], ids=["default", "dense"])
@pytest.mark.parametrize("base", BASES)
def test_every_base_of_the_zoo_is_left_alone(base, schedule, tmp_path):
    space = {"__name__": f"zoo_{base}"}
    exec(compile(plant.planted_source(base, []), f"{base}.py", "exec"), space)
    watch, made = watching(tmp_path, **schedule)
    seed_everything(1)
    with calls_of(CartPoleEnv, PendulumEnv, AcrobotEnv) as expected:
        bare = space["train"](NoWatch, updates=BASES[base])
        state = rng_state()
    seed_everything(1)
    with calls_of(CartPoleEnv, PendulumEnv, AcrobotEnv) as calls:
        watched = space["train"](watch, updates=BASES[base])
        assert rng_state() == state
    for name, each in bare.items():
        if isinstance(each, nn.Module):
            assert same_weights(each, watched[name]), name
        else:
            assert each == watched[name], name
    assert calls == expected
    assert len(calls) >= 20
    assert not made[0].broken, made[0].broken


def test_global_switches_are_put_back(tmp_path):
    """Default dtype, grad mode, numpy's error handling, warning filters, autocast: all as before."""
    import warnings

    def switches():
        return (
            torch.get_default_dtype(), torch.is_grad_enabled(), torch.is_inference_mode_enabled(), np.geterr(),
            list(warnings.filters), torch.is_autocast_enabled("cpu"), torch.get_num_threads(),
            torch.are_deterministic_algorithms_enabled(), torch.is_anomaly_enabled(),
        )  # fmt: skip

    before = switches()
    watch, made = watching(tmp_path, **DENSE)
    actor_critic(watch, OPTIMIZERS["adam"], False, 4, rollouts=2)
    made[0].report()
    assert switches() == before


# ── copies of what is watched are copies of the user's object, not of ours ─────────────────────────────────────────


def test_a_copy_of_a_watched_env_steps_itself(tmp_path):
    env = gym.make("CartPole-v1")
    with rldebug.watch(env=env, folder=tmp_path, quiet=True):
        env.reset(seed=0)
        twin = copy.deepcopy(env)
        before = np.array(env.unwrapped.state)
        for _ in range(3):
            twin.step(1)
        assert np.array_equal(env.unwrapped.state, before), "stepping the copy stepped the original"
        assert not np.array_equal(twin.unwrapped.state, before)
        twin.reset(seed=1)
        assert np.array_equal(env.unwrapped.state, before), "resetting the copy reset the original"


def test_a_watched_env_can_be_pickled(tmp_path):
    env = gym.make("CartPole-v1")
    with rldebug.watch(env=env, folder=tmp_path, quiet=True) as dbg:
        env.reset(seed=0)
        twin = pickle.loads(pickle.dumps(env))
        before = np.array(env.unwrapped.state)
        twin.reset(seed=5)
        twin.step(0)
        assert np.array_equal(env.unwrapped.state, before)
        env.step(0)
        assert dbg._collect.env_steps == 1


def test_a_watched_network_can_be_saved_whole_and_copied(tmp_path):
    """Forward hooks wait on the network for its next training pass; a checkpoint taken then must not carry them."""
    net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
    x = torch.randn(32, 3)
    with rldebug.watch(policy=net, folder=tmp_path, quiet=True) as dbg:
        torch.save(net, tmp_path / "net.pt")
        twin = copy.deepcopy(net)
        assert b"rldebug" not in (tmp_path / "net.pt").read_bytes()
        saved = torch.load(tmp_path / "net.pt", weights_only=False)
        with torch.no_grad():
            twin[0].weight.fill_(9.0)
        assert torch.equal(saved(x), net(x))
        twin(torch.randn(64, 3))  # more rows than the network itself has seen: must not take its place
        dbg.update(loss=net(x).mean())
    assert not dbg.broken
    table = rldebug.read_run(dbg.path).table("layers")[0][1]
    assert table["policy.0"][0] == pytest.approx(net[0](x).mean().item(), abs=1e-5)
