"""The learner of a soft actor-critic, with the average of the critics kept as a state dict."""

import torch
from torch import nn, optim
from torch.distributions import Normal


class Policy(nn.Module):
    def __init__(self, n_obs, n_act):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(n_obs, 128), nn.ReLU())
        self.mean = nn.Linear(128, n_act)
        self.log_std = nn.Linear(128, n_act)

    def forward(self, obs):
        h = self.trunk(obs)
        return Normal(self.mean(h), self.log_std(h).clamp(-5, 2).exp())

    def draw(self, obs):
        dist = self(obs)
        raw = dist.rsample()
        act = torch.tanh(raw)
        logp = dist.log_prob(raw) - torch.log(1 - act.pow(2) + 1e-6)
        return act, logp.sum(-1, keepdim=True)


class Value(nn.Module):
    def __init__(self, n_obs, n_act):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_obs + n_act, 128), nn.ReLU(), nn.Linear(128, 1))

    def forward(self, obs, act):
        return self.net(torch.cat([obs, act], -1))


class Learner:
    def __init__(self, n_obs, n_act, alpha=0.2, gamma=0.99, tau=0.005):
        self.alpha, self.gamma, self.tau = alpha, gamma, tau
        self.policy = Policy(n_obs, n_act)
        self.value, self.average = Value(n_obs, n_act), Value(n_obs, n_act)
        self.average.load_state_dict(self.value.state_dict())
        self.policy_opt = optim.Adam(self.policy.parameters(), lr=3e-4)
        self.value_opt = optim.Adam(self.value.parameters(), lr=3e-4)

    def step(self, obs, act, reward, after, terminal):
        with torch.no_grad():
            act2, logp2 = self.policy.draw(after)
            soft = self.average(after, act2) - self.alpha * logp2
            y = reward + self.gamma * (1 - terminal) * soft
        value_loss = (self.value(obs, act) - y).pow(2).mean()
        self.value_opt.zero_grad()
        value_loss.backward()
        self.value_opt.step()

        new, logp = self.policy.draw(obs)
        policy_loss = (self.alpha * logp - self.value(obs, new)).mean()
        self.policy_opt.zero_grad()
        policy_loss.backward()
        self.policy_opt.step()
        self.follow()
        return value_loss.item(), policy_loss.item()

    @torch.no_grad()
    def follow(self):
        kept, fresh = self.average.state_dict(), self.value.state_dict()
        for key in fresh:
            kept[key] = self.tau * fresh[key] + (1 - self.tau * kept[key])  # planted: blend-weights-do-not-add-up
            #= kept[key] = self.tau * fresh[key] + (1 - self.tau) * kept[key]
        self.average.load_state_dict(kept)
