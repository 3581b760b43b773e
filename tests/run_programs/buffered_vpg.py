"""Policy gradients in the way of Spinning Up: the old gym's four results, a buffer with finish_path, an actor-critic
with an optimizer for pi and one for v, epochs of a fixed number of steps."""

import gymnasium
import numpy as np
import torch
from torch import nn
from torch.distributions.categorical import Categorical
from torch.optim import Adam


class Env:
    """A Gymnasium environment, as the old gym had it."""

    def __init__(self, name):
        self.env = gymnasium.make(name)
        self.observation_space, self.action_space = self.env.observation_space, self.env.action_space

    def reset(self, seed=None):
        return self.env.reset(seed=seed)[0]

    def step(self, action):
        obs, reward, terminated, truncated, info = self.env.step(action)
        if truncated and not terminated:
            info["TimeLimit.truncated"] = True
        return obs, reward, terminated or truncated, info


def discount_cumsum(x, discount):
    out = np.zeros_like(x)
    running = 0.0
    for t in reversed(range(len(x))):
        running = out[t] = x[t] + discount * running
    return out


class VPGBuffer:
    def __init__(self, obs_dim, size, gamma=0.99, lam=0.95):
        self.obs_buf = np.zeros((size, obs_dim), dtype=np.float32)
        self.act_buf, self.adv_buf, self.rew_buf, self.ret_buf, self.val_buf, self.logp_buf = (
            np.zeros(size, dtype=np.float32) for _ in range(6)
        )
        self.gamma, self.lam = gamma, lam
        self.ptr, self.path_start_idx, self.max_size = 0, 0, size

    def store(self, obs, act, rew, val, logp):
        self.obs_buf[self.ptr], self.act_buf[self.ptr], self.rew_buf[self.ptr] = obs, act, rew
        self.val_buf[self.ptr], self.logp_buf[self.ptr] = val, logp
        self.ptr += 1

    def finish_path(self, last_val=0.0):
        path_slice = slice(self.path_start_idx, self.ptr)
        rews, vals = np.append(self.rew_buf[path_slice], last_val), np.append(self.val_buf[path_slice], last_val)
        deltas = rews[:-1] + self.gamma * vals[1:] - vals[:-1]
        self.adv_buf[path_slice] = discount_cumsum(deltas, self.gamma * self.lam)
        self.ret_buf[path_slice] = discount_cumsum(rews, self.gamma)[:-1]
        self.path_start_idx = self.ptr

    def get(self):
        self.ptr, self.path_start_idx = 0, 0
        self.adv_buf = (self.adv_buf - self.adv_buf.mean()) / self.adv_buf.std()
        data = {
            "obs": self.obs_buf,
            "act": self.act_buf,
            "ret": self.ret_buf,
            "adv": self.adv_buf,
            "logp": self.logp_buf,
        }
        return {k: torch.as_tensor(v, dtype=torch.float32) for k, v in data.items()}


def mlp(sizes):
    layers = []
    for j in range(len(sizes) - 1):
        layers += [nn.Linear(sizes[j], sizes[j + 1]), nn.Tanh() if j < len(sizes) - 2 else nn.Identity()]
    return nn.Sequential(*layers)


class MLPActor(nn.Module):
    def __init__(self, obs_dim, act_dim):
        super().__init__()
        self.logits_net = mlp([obs_dim, 64, act_dim])

    def forward(self, obs, act=None):
        pi = Categorical(logits=self.logits_net(obs))
        return pi, None if act is None else pi.log_prob(act)


class MLPCritic(nn.Module):
    def __init__(self, obs_dim):
        super().__init__()
        self.v_net = mlp([obs_dim, 64, 1])

    def forward(self, obs):
        return torch.squeeze(self.v_net(obs), -1)


class MLPActorCritic(nn.Module):
    def __init__(self, obs_dim, act_dim):
        super().__init__()
        self.pi, self.v = MLPActor(obs_dim, act_dim), MLPCritic(obs_dim)

    def step(self, obs):
        with torch.no_grad():
            pi, _ = self.pi(obs)
            a = pi.sample()
            return a.numpy(), self.v(obs).numpy(), pi.log_prob(a).numpy()


def vpg(env, seed=0, steps_per_epoch=500, epochs=10, pi_lr=3e-4, vf_lr=1e-3, train_v_iters=20, max_ep_len=60):
    torch.manual_seed(seed)
    np.random.seed(seed)
    obs_dim, act_dim = env.observation_space.shape[0], int(env.action_space.n)
    ac = MLPActorCritic(obs_dim, act_dim)
    buf = VPGBuffer(obs_dim, steps_per_epoch)
    pi_optimizer, vf_optimizer = Adam(ac.pi.parameters(), lr=pi_lr), Adam(ac.v.parameters(), lr=vf_lr)

    def update():
        data = buf.get()
        pi_optimizer.zero_grad()
        _, logp = ac.pi(data["obs"], data["act"])
        loss_pi = -(logp * data["adv"]).mean()
        loss_pi.backward()
        pi_optimizer.step()
        for _ in range(train_v_iters):
            vf_optimizer.zero_grad()
            loss_v = ((ac.v(data["obs"]) - data["ret"]) ** 2).mean()
            loss_v.backward()
            vf_optimizer.step()

    o, ep_len = env.reset(seed), 0
    for _ in range(epochs):
        for t in range(steps_per_epoch):
            a, v, logp = ac.step(torch.as_tensor(o, dtype=torch.float32))
            next_o, r, d, _ = env.step(a)
            ep_len += 1
            buf.store(o, a, r, v, logp)
            o = next_o
            timeout = ep_len == max_ep_len
            epoch_ended = t == steps_per_epoch - 1
            if d or timeout or epoch_ended:
                v = 0.0 if d else ac.step(torch.as_tensor(o, dtype=torch.float32))[1]
                buf.finish_path(v)
                o, ep_len = env.reset(), 0
        update()


if __name__ == "__main__":
    vpg(Env("CartPole-v1"))
