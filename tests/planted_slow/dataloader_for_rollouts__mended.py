"""PPO on CartPole; minibatches of the rollout come from a DataLoader."""

import time

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical
from torch.utils.data import DataLoader, TensorDataset


class PPO:
    def __init__(self, venv, lr=3e-4, clip=0.2, epochs=4, minibatch=128):
        self.venv, self.clip, self.epochs, self.minibatch = venv, clip, epochs, minibatch
        self.policy_net = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 2))
        self.value_net = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 1))
        self.params = [*self.policy_net.parameters(), *self.value_net.parameters()]
        self.optimizer = torch.optim.Adam(self.params, lr=lr)
        self._last_obs = venv.reset(seed=0)[0]

    def collect_rollouts(self, n_steps=128):
        n = self.venv.num_envs
        observations = np.zeros((n_steps, n, 4), dtype=np.float32)
        chosen, rewards, continues, old_values, old_logps = np.zeros((5, n_steps, n), dtype=np.float32)
        for i in range(n_steps):
            with torch.no_grad():
                obs_tensor = torch.from_numpy(self._last_obs)
                dist = Categorical(logits=self.policy_net(obs_tensor))
                act = dist.sample()
                old_logps[i], old_values[i] = dist.log_prob(act), self.value_net(obs_tensor).squeeze(1)
            observations[i], chosen[i] = self._last_obs, act
            self._last_obs, rewards[i], term, trunc, _ = self.venv.step(act.numpy())
            continues[i] = ~(term | trunc)
        with torch.no_grad():
            ahead = self.value_net(torch.from_numpy(self._last_obs)).squeeze(1).numpy()
        advantages, carried = np.zeros_like(rewards), np.zeros(n, dtype=np.float32)
        for i in range(n_steps - 1, -1, -1):
            delta = rewards[i] + 0.99 * ahead * continues[i] - old_values[i]
            advantages[i] = carried = delta + 0.99 * 0.95 * continues[i] * carried
            ahead = old_values[i]
        flat = (each.ravel() for each in (chosen, old_logps, advantages, advantages + old_values))
        return [torch.from_numpy(each) for each in (observations.reshape(-1, 4), *flat)]

    def train(self, data):
        for _ in range(self.epochs):
            for rows in torch.randperm(len(data[0])).split(self.minibatch):
                obs, act, logp_old, adv, ret = (column[rows] for column in data)
                loss = self.step(obs, act, logp_old, adv, ret)
        return loss

    def step(self, obs, act, logp_old, adv, ret):
        ratio = torch.exp(Categorical(logits=self.policy_net(obs)).log_prob(act) - logp_old)
        policy_loss = -torch.min(adv * ratio, adv * ratio.clamp(1 - self.clip, 1 + self.clip)).mean()
        loss = policy_loss + 0.5 * nn.functional.mse_loss(self.value_net(obs).squeeze(1), ret)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


if __name__ == "__main__":
    torch.manual_seed(0)
    model = PPO(gym.vector.SyncVectorEnv([lambda: gym.make("CartPole-v1")] * 8))
    began = time.perf_counter()
    for _ in range(36):
        final = model.train(model.collect_rollouts())
    print(f"final loss {final:.3f} seconds={time.perf_counter() - began:.3f}")
