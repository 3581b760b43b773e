"""PPO on CartPole in the manner of Spinning Up: one function, one buffer, epochs of 2000 steps."""

import time

import gymnasium as gym
import numpy as np
import torch
from torch.distributions.categorical import Categorical
from torch.nn import Linear, Sequential, Tanh


def mlp(*sizes):
    layers = []
    for i in range(len(sizes) - 1):
        layers += [Linear(sizes[i], sizes[i + 1]), Tanh()]
    return Sequential(*layers[:-1])


class PPOBuffer:
    def __init__(self, T, B, gamma=0.99, lam=0.97):
        self.obs_buf = np.zeros((T, B, 4), dtype=np.float32)
        self.act_buf, self.rew_buf, self.val_buf, self.logp_buf, self.end_buf = np.zeros((5, T, B), dtype=np.float32)
        self.gamma, self.lam, self.ptr = gamma, lam, 0

    def store(self, obs, act, rew, val, logp, end):
        t = self.ptr
        self.obs_buf[t], self.act_buf[t], self.rew_buf[t] = obs, act, rew
        self.val_buf[t], self.logp_buf[t], self.end_buf[t] = val, logp, end
        self.ptr += 1

    def get(self, last_val):
        adv, running, nxt = np.zeros_like(self.rew_buf), 0.0, last_val
        for t in reversed(range(self.ptr)):
            cont = 1 - self.end_buf[t]
            running = self.rew_buf[t] + self.gamma * cont * nxt - self.val_buf[t] + self.gamma * self.lam * cont * running
            adv[t], nxt = running, self.val_buf[t]
        ret, self.ptr = adv + self.val_buf, 0
        adv = (adv - adv.mean()) / adv.std()
        flat = self.obs_buf.reshape(-1, 4), *(x.reshape(-1) for x in (self.act_buf, self.logp_buf, adv, ret))
        return [torch.as_tensor(x) for x in flat]


def ppo(env_fn, epochs=8, steps_per_epoch=2000, seed=0, num_envs=1):
    torch.manual_seed(seed)
    env = env_fn(num_envs)
    pi, v = mlp(4, 64, 64, 2), mlp(4, 64, 64, 1)
    pi_optimizer = torch.optim.Adam(pi.parameters(), lr=3e-4)
    vf_optimizer = torch.optim.Adam(v.parameters(), lr=1e-3)
    T = steps_per_epoch // num_envs
    buf = PPOBuffer(T, num_envs)
    start = time.perf_counter()
    o, _ = env.reset(seed=seed)
    for _ in range(epochs):
        for _ in range(T):
            with torch.no_grad():
                x = torch.as_tensor(o, dtype=torch.float32).reshape(num_envs, 4)
                dist = Categorical(logits=pi(x))
                a = dist.sample()
                logp, val = dist.log_prob(a), v(x).squeeze(-1)
            a = a.numpy()
            next_o, r, d, cut, _ = env.step(a)
            buf.store(o, a, r, val, logp, d | cut)
            o = next_o
        with torch.no_grad():
            last = v(torch.as_tensor(o, dtype=torch.float32).reshape(num_envs, 4)).squeeze(-1).numpy()
        obs, act, old, adv, ret = buf.get(last)
        for _ in range(20):
            ratio = torch.exp(Categorical(logits=pi(obs)).log_prob(act) - old)
            loss_pi = -torch.min(ratio * adv, torch.clamp(ratio, 0.8, 1.2) * adv).mean()
            pi_optimizer.zero_grad()
            loss_pi.backward()
            pi_optimizer.step()
            loss_v = ((v(obs).squeeze(-1) - ret) ** 2).mean()
            vf_optimizer.zero_grad()
            loss_v.backward()
            vf_optimizer.step()
    return loss_v.item(), time.perf_counter() - start


def make(n):
    return gym.vector.SyncVectorEnv([lambda: gym.make("CartPole-v1") for _ in range(n)])


if __name__ == "__main__":
    final, seconds = ppo(make, num_envs=8)
    print(f"LossV {final:.3f} seconds={seconds:.3f}")
