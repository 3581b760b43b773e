"""PPO with a Gaussian policy on Pendulum-v1: one environment, one network with two heads, a rollout buffer class."""

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Independent, Normal


class ActorCritic(nn.Module):
    def __init__(self, obs_dim, act_dim, hidden=64):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(obs_dim, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.mean_head = nn.Linear(hidden, act_dim)
        self.value_head = nn.Linear(hidden, 1)
        self.log_std = nn.Parameter(torch.zeros(act_dim))

    def forward(self, obs):
        features = self.trunk(obs)
        mean = self.mean_head(features)
        std = self.log_std.exp().expand_as(mean)
        return Independent(Normal(mean, std), 1), self.value_head(features).squeeze(-1)


class RolloutBuffer:
    """One rollout of a single environment; `next_obs` is the state that really followed, also at an end."""

    def __init__(self, size, obs_dim, act_dim):
        self.size = size
        self.obs = np.zeros((size, obs_dim), dtype=np.float32)
        self.next_obs = np.zeros((size, obs_dim), dtype=np.float32)
        self.actions = np.zeros((size, act_dim), dtype=np.float32)
        self.rewards = np.zeros(size, dtype=np.float32)
        self.terminated = np.zeros(size, dtype=bool)
        self.truncated = np.zeros(size, dtype=bool)
        self.values = np.zeros(size, dtype=np.float32)
        self.logps = np.zeros(size, dtype=np.float32)
        self.pos = 0

    def add(self, obs, action, reward, next_obs, terminated, truncated, value, logp):
        i = self.pos
        self.obs[i], self.actions[i], self.rewards[i], self.next_obs[i] = obs, action, reward, next_obs
        self.terminated[i], self.truncated[i] = terminated, truncated
        self.values[i], self.logps[i] = value, logp
        self.pos += 1

    def finish(self, next_values, gamma, lam):
        """Generalised advantage estimates and the value targets that go with them."""
        self.advantages = np.zeros(self.size, dtype=np.float32)
        running = 0.0
        for i in reversed(range(self.size)):
            bootstrap = 0.0 if self.terminated[i] else next_values[i]
            carried = 0.0 if self.terminated[i] or self.truncated[i] else running
            td_error = self.rewards[i] + gamma * bootstrap - self.values[i]
            running = td_error + gamma * lam * carried
            self.advantages[i] = running
        self.targets = self.advantages + self.values
        self.pos = 0

    def as_dict(self):
        names = {"obs": "obs", "action": "actions", "reward": "rewards", "value": "values", "logp": "logps"}
        flags = {"terminated": self.terminated, "truncated": self.truncated}
        return {key: getattr(self, name) for key, name in names.items()} | flags

    def minibatches(self, size, rng):
        order = rng.permutation(self.size)
        for start in range(0, self.size, size):
            idx = order[start : start + size]
            arrays = (self.obs, self.actions, self.logps, self.advantages, self.targets)
            yield tuple(torch.from_numpy(array[idx]) for array in arrays)


class PPO:
    def __init__(self, env, seed, gamma=0.9, lam=0.95, clip=0.2, lr=1.5e-3, horizon=600, epochs=8, batch=100):
        self.env, self.seed = env, seed
        self.gamma, self.lam, self.clip = gamma, lam, clip
        self.epochs, self.batch = epochs, batch
        self.rng = np.random.default_rng(seed)
        obs_dim, act_dim = env.observation_space.shape[0], env.action_space.shape[0]
        self.net = ActorCritic(obs_dim, act_dim)
        self.opt = torch.optim.Adam(self.net.parameters(), lr=lr)
        self.buffer = RolloutBuffer(horizon, obs_dim, act_dim)
        self.obs = None
        self.episode_return, self.returns = 0.0, []

    @torch.no_grad()
    def collect(self, dbg):
        buf = self.buffer
        if self.obs is None:
            self.obs, _ = self.env.reset(seed=self.seed)
        for _ in range(buf.size):
            dist, value = self.net(torch.from_numpy(self.obs))
            action = dist.sample()
            logp = dist.log_prob(action)
            env_action = np.clip(action.numpy(), self.env.action_space.low, self.env.action_space.high)
            next_obs, reward, terminated, truncated, _ = self.env.step(env_action)
            scaled_reward = 0.1 * float(reward)
            buf.add(self.obs, action.numpy(), scaled_reward, next_obs, terminated, truncated, value, logp)
            self.obs = next_obs
            self.episode_return += float(reward)
            if terminated or truncated:
                self.returns.append(self.episode_return)
                dbg.metric("episode_return", self.episode_return)
                self.episode_return = 0.0
                self.obs, _ = self.env.reset()
        _, next_values = self.net(torch.from_numpy(buf.next_obs))
        buf.finish(next_values.numpy(), self.gamma, self.lam)
        dbg.rollout(**buf.as_dict())

    def learn(self, dbg):
        adv_mean, adv_std = self.buffer.advantages.mean(), self.buffer.advantages.std()
        for _ in range(self.epochs):
            for obs, taken, old_logp, raw_adv, target in self.buffer.minibatches(self.batch, self.rng):
                adv = (raw_adv - adv_mean) / (adv_std + 1e-8)
                dist, value = self.net(obs)
                new_logp = dist.log_prob(taken)
                ratio = (new_logp - old_logp).exp()
                surrogate = ratio * adv
                clipped = ratio.clamp(1.0 - self.clip, 1.0 + self.clip) * adv
                pi_loss = -torch.minimum(surrogate, clipped).mean()
                vf_loss = F.mse_loss(value, target)
                total = pi_loss + 0.5 * vf_loss
                self.opt.zero_grad(set_to_none=True)
                total.backward()
                torch.nn.utils.clip_grad_norm_(self.net.parameters(), max_norm=0.5)
                self.opt.step()
                dbg.update(
                    loss={"policy": pi_loss, "value": vf_loss},
                    logp_old=old_logp,
                    logp_new=new_logp,
                    value=value,
                    target=target,
                    advantage=raw_adv,
                    dist=dist,
                    clip=self.clip,
                )


def train(watch, seed=0, env_id="Pendulum-v1", updates=24):
    torch.manual_seed(seed)
    env = gym.make(env_id)
    agent = PPO(env, seed)
    with watch(policy=agent.net, critic=agent.net, optimizer=agent.opt, env=env, gamma=agent.gamma) as dbg:
        for _ in range(updates):
            agent.collect(dbg)
            agent.learn(dbg)
    env.close()
    return {"returns": agent.returns, "policy": agent.net, "steps": updates * agent.buffer.size}


if __name__ == "__main__":
    import rldebug

    print(np.mean(train(rldebug.watch)["returns"][-10:]))
