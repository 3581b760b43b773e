"""PPO for discrete actions, the update of one rollout."""

import torch
from torch import nn
from torch.distributions import Categorical
from torch.utils.data import DataLoader, TensorDataset


class ActorCritic(nn.Module):
    def __init__(self, n_obs, n_act):
        super().__init__()
        self.pi = nn.Sequential(nn.Linear(n_obs, 64), nn.Tanh(), nn.Linear(64, n_act))
        self.v = nn.Sequential(nn.Linear(n_obs, 64), nn.Tanh(), nn.Linear(64, 1))

    def evaluate(self, obs, act):
        dist = Categorical(logits=self.pi(obs))
        return dist.log_prob(act), dist.entropy(), self.v(obs).squeeze(-1)


class Updater:
    def __init__(self, model, lr=3e-4, clip=0.2, epochs=4, bonus=0.01):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.clip, self.epochs, self.bonus = clip, epochs, bonus

    def loss(self, obs, act, logp_before, advantage, target):
        logp, entropy, value = self.model.evaluate(obs, act)
        change = logp_before - logp  # planted: ratio-upside-down
        #= change = logp - logp_before
        ratio = change.exp()
        gain = torch.min(ratio * advantage, ratio.clamp(1 - self.clip, 1 + self.clip) * advantage)
        return -gain.mean() + 0.5 * (value - target).pow(2).mean() - self.bonus * entropy.mean()

    def run(self, rollout):
        rows = TensorDataset(rollout.obs, rollout.act, rollout.logp, rollout.advantage, rollout.target)
        for _ in range(self.epochs):
            for batch in DataLoader(rows, batch_size=64, shuffle=True):
                loss = self.loss(*batch)
                self.optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.model.parameters(), 0.5)
                self.optimizer.step()
