"""PPO in the manner of a course: a buffer that finishes paths, an actor-critic module, a function that trains."""

import json
import os
import sys
import tempfile
import time

import gymnasium as gym
import numpy as np
import torch
from gymnasium.envs.classic_control import CartPoleEnv
from torch import nn
from torch.distributions.categorical import Categorical
from torch.optim import Adam


class Ledger:
    """Who has the time, and how much of it."""

    def __init__(self):
        self.way = os.environ.get("COST_KIND", "burn")
        self.matrix = torch.eye(64)
        self.matrices = torch.eye(640)
        self.clear()

    def clear(self):
        self.costs, self.parts, self.calls = {}, {}, {}
        self.open = ["other"]
        self.first = self.last = time.perf_counter()

    def due(self, part):
        return float(os.environ.get("COST_" + part.upper().replace(" ", "_"), 0)) / 1e3

    def dawdle(self, part):
        self.calls[part] = self.calls.get(part, 0) + 1
        wanted = self.due(part)
        if wanted > 0:
            began = time.perf_counter()
            if self.way == "sleep":
                time.sleep(wanted)
            elif self.way == "torch":
                factor = self.matrices if wanted > 0.01 else self.matrix
                while time.perf_counter() < began + wanted:
                    factor @ factor
            else:
                while time.perf_counter() < began + wanted:
                    pass
            self.costs[part] = self.costs.get(part, 0) + time.perf_counter() - began

    def book(self):
        at = time.perf_counter()
        name = self.open[-1]
        self.parts[name] = self.parts.get(name, 0) + at - self.last
        self.last = at

    def __call__(self, part):
        self.book()
        self.open.append("evaluation" if "evaluation" in self.open else part)
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.book()
        self.open.pop()


ledger = Ledger()


class Pole(CartPoleEnv):
    def reset(self, **kwargs):
        with ledger("reset"):
            ledger.dawdle("reset")
            return super().reset(**kwargs)

    def step(self, action):
        with ledger("simulator"):
            ledger.dawdle("simulator")
            return super().step(action)


gym.register("timed/Pole-v0", entry_point=Pole, max_episode_steps=200)


def mlp(sizes, activation, output_activation=nn.Identity):
    layers = []
    for j in range(len(sizes) - 1):
        act = activation if j < len(sizes) - 2 else output_activation
        layers += [nn.Linear(sizes[j], sizes[j + 1]), act()]
    return nn.Sequential(*layers)


class Drag(torch.autograd.Function):
    @staticmethod
    def forward(ctx, value):
        return value * 1.0

    @staticmethod
    def backward(ctx, gradient):
        ledger.dawdle("backward")
        return gradient


class MLPActor(nn.Module):
    def __init__(self, obs_dim, act_dim):
        super().__init__()
        self.logits_net = mlp([obs_dim, 64, 64, act_dim], nn.Tanh)

    def forward(self, obs, act=None):
        ledger.dawdle("acting" if act is None else "loss")
        pi = Categorical(logits=self.logits_net(obs))
        return pi, None if act is None else pi.log_prob(act)


class MLPCritic(nn.Module):
    def __init__(self, obs_dim):
        super().__init__()
        self.v_net = mlp([obs_dim, 64, 64, 1], nn.Tanh)

    def forward(self, obs):
        return torch.squeeze(self.v_net(obs), -1)


class MLPActorCritic(nn.Module):
    def __init__(self, obs_dim, act_dim):
        super().__init__()
        self.pi = MLPActor(obs_dim, act_dim)
        self.v = MLPCritic(obs_dim)

    def step(self, obs):
        with torch.no_grad():
            pi, _ = self.pi(obs)
            a = pi.sample()
            logp_a = pi.log_prob(a)
            v = self.v(obs)
            with ledger("copies"):
                return a.numpy(), v.numpy(), logp_a.numpy()


def discount_cumsum(x, discount):
    out = np.zeros_like(x)
    running = 0.0
    for i in range(len(x) - 1, -1, -1):
        running = x[i] + discount * running
        out[i] = running
    return out


class PPOBuffer:
    def __init__(self, obs_dim, size, gamma=0.99, lam=0.95):
        self.obs_buf = np.zeros((size, obs_dim), dtype=np.float32)
        self.act_buf = np.zeros(size, dtype=np.float32)
        self.adv_buf = np.zeros(size, dtype=np.float32)
        self.rew_buf = np.zeros(size, dtype=np.float32)
        self.ret_buf = np.zeros(size, dtype=np.float32)
        self.val_buf = np.zeros(size, dtype=np.float32)
        self.logp_buf = np.zeros(size, dtype=np.float32)
        self.gamma, self.lam = gamma, lam
        self.ptr, self.path_start_idx, self.max_size = 0, 0, size

    def store(self, obs, act, rew, val, logp):
        ledger.dawdle("buffer write")
        self.obs_buf[self.ptr] = obs
        self.act_buf[self.ptr] = act
        self.rew_buf[self.ptr] = rew
        self.val_buf[self.ptr] = val
        self.logp_buf[self.ptr] = logp
        self.ptr += 1

    def finish_path(self, last_val=0):
        ledger.dawdle("advantages")
        path_slice = slice(self.path_start_idx, self.ptr)
        rews = np.append(self.rew_buf[path_slice], last_val)
        vals = np.append(self.val_buf[path_slice], last_val)
        deltas = rews[:-1] + self.gamma * vals[1:] - vals[:-1]
        self.adv_buf[path_slice] = discount_cumsum(deltas, self.gamma * self.lam)
        self.ret_buf[path_slice] = discount_cumsum(rews, self.gamma)[:-1]
        self.path_start_idx = self.ptr

    def get(self):
        ledger.dawdle("buffer sample")
        self.ptr, self.path_start_idx = 0, 0
        self.adv_buf = (self.adv_buf - self.adv_buf.mean()) / self.adv_buf.std()
        data = dict(obs=self.obs_buf, act=self.act_buf, ret=self.ret_buf, adv=self.adv_buf, logp=self.logp_buf)  # noqa: C408
        return {k: torch.as_tensor(v, dtype=torch.float32) for k, v in data.items()}


class Notes:
    def __init__(self, folder):
        self.rows = {}
        self.file = open(os.path.join(folder, "progress.txt"), "w")  # noqa: SIM115

    def store(self, **values):
        for key, value in values.items():
            self.rows.setdefault(key, []).append(value)

    def dump(self):
        ledger.dawdle("logging")
        for key, value in self.rows.items():
            print(f"{key}\t{np.mean(value):.4f}", file=self.file)
        self.file.flush()
        self.rows.clear()


class SlowFile:
    def __init__(self, path):
        self.file = open(path, "wb")  # noqa: SIM115

    def write(self, data):
        ledger.dawdle("saving")
        return self.file.write(data)

    def flush(self):
        self.file.close()


class SlowAdam(Adam):
    def step(self, closure=None):
        ledger.dawdle("optimizer")
        return super().step(closure)


def ppo(env_fn, epochs, steps_per_epoch=500, clip_ratio=0.2, iters=20):
    torch.manual_seed(3)
    folder = tempfile.mkdtemp()
    logger = Notes(folder)
    env = env_fn()
    ac = MLPActorCritic(env.observation_space.shape[0], env.action_space.n)
    buf = PPOBuffer(env.observation_space.shape[0], steps_per_epoch)

    def compute_loss_pi(data):
        _, logp = ac.pi(data["obs"], data["act"])
        ratio = torch.exp(logp - data["logp"])
        clip_adv = torch.clamp(ratio, 1 - clip_ratio, 1 + clip_ratio) * data["adv"]
        loss_pi = -(torch.min(ratio * data["adv"], clip_adv)).mean()
        approx_kl = (data["logp"] - logp).mean().item()
        return Drag.apply(loss_pi), approx_kl

    def compute_loss_v(data):
        return ((ac.v(data["obs"]) - data["ret"]) ** 2).mean()

    pi_optimizer = SlowAdam(ac.pi.parameters(), lr=3e-4)
    vf_optimizer = SlowAdam(ac.v.parameters(), lr=1e-3)

    def update():
        with ledger("buffer sample"):
            data = buf.get()
        for _ in range(iters):
            with ledger("optimizer"):
                pi_optimizer.zero_grad()
            with ledger("loss"):
                loss_pi, kl = compute_loss_pi(data)
            if kl > 1.5:
                break
            with ledger("backward"):
                loss_pi.backward()
            with ledger("optimizer"):
                pi_optimizer.step()
        for _ in range(iters):
            with ledger("optimizer"):
                vf_optimizer.zero_grad()
            with ledger("loss"):
                loss_v = compute_loss_v(data)
            with ledger("backward"):
                loss_v.backward()
            with ledger("optimizer"):
                vf_optimizer.step()
        with ledger("logging"):
            logger.store(LossPi=loss_pi.item(), LossV=loss_v.item(), KL=kl)

    o, _ = env.reset(seed=3)
    ep_ret, ep_len = 0, 0
    ledger.clear()
    for epoch in range(epochs):
        for t in range(steps_per_epoch):
            with ledger("copies"):
                x = torch.as_tensor(o, dtype=torch.float32)
            with ledger("acting"):
                a, v, logp = ac.step(x)
            with ledger("wrappers"):
                next_o, r, d, cut, _ = env.step(a)
            ep_ret += r
            ep_len += 1
            with ledger("buffer write"):
                buf.store(o, a, r, v, logp)
            with ledger("logging"):
                logger.store(VVals=v)
            o = next_o
            epoch_ended = t == steps_per_epoch - 1
            if d or cut or epoch_ended:
                if cut or epoch_ended:
                    with ledger("acting"):
                        _, v, _ = ac.step(torch.as_tensor(o, dtype=torch.float32))
                else:
                    v = 0
                with ledger("advantages"):
                    buf.finish_path(v)
                with ledger("logging"):
                    logger.store(EpRet=ep_ret, EpLen=ep_len)
                with ledger("wrappers"):
                    o, _ = env.reset()
                ep_ret, ep_len = 0, 0
        if epoch % 2 == 0:
            with ledger("saving"):
                torch.save({"ac": ac.state_dict(), "epoch": epoch}, SlowFile(os.path.join(folder, "model.pt")))
        update()
        with ledger("logging"):
            logger.dump()
    ledger.book()
    logger.file.close()


if __name__ == "__main__":
    ppo(lambda: gym.make("timed/Pole-v0"), int(sys.argv[1]) if len(sys.argv) > 1 else 8)
    if "TRUTH" in os.environ:
        with open(os.environ["TRUTH"], "w") as out:
            truth = {"costs": ledger.costs, "parts": ledger.parts, "calls": ledger.calls}
            json.dump({"seconds": ledger.last - ledger.first, **truth}, out)
