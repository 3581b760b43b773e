import copy
from itertools import chain

import torch
from ledger import belongs, cost
from torch import nn, optim


class Resist(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x + 0

    @staticmethod
    def backward(ctx, gradient):
        cost("backward")
        return gradient


class Slow(optim.SGD):
    def step(self, closure=None):
        cost("optimizer")
        return super().step(closure)


class Learner:
    def __init__(self, policy, critics, config):
        self.policy, self.critics, self.config = policy, critics, config
        self.slow = copy.deepcopy(critics)
        self.policy_opt = Slow(policy.parameters(), lr=config["lr"], momentum=0.9)
        self.critic_opt = Slow(chain(*(each.parameters() for each in critics)), lr=config["lr"], momentum=0.9)

    def targets(self, batch):
        cost("loss")
        with torch.no_grad():
            logp = self.policy(batch.following)
            q = torch.minimum(*(each(batch.following) for each in self.slow))
            v = (logp.exp() * (q - 0.1 * logp)).sum(-1)
        return batch.reward.float() + 0.95 * (1 - batch.over.float()) * v

    def critic_loss(self, batch):
        y = self.targets(batch)
        guesses = [each(batch.state).gather(1, batch.action[:, None]).squeeze(1) for each in self.critics]
        return Resist.apply(sum(nn.functional.huber_loss(each, y) for each in guesses))

    def policy_loss(self, batch):
        logp = self.policy(batch.state)
        with torch.no_grad():
            q = torch.minimum(*(each(batch.state) for each in self.critics))
        return (logp.exp() * (0.1 * logp - q)).sum(-1).mean()

    def apply(self, optimizer, loss):
        with belongs("optimizer"):
            optimizer.zero_grad()
        with belongs("backward"):
            loss.backward()
        with belongs("optimizer"):
            optimizer.step()

    def improve(self, memory):
        for _ in range(self.config["updates"]):
            with belongs("buffer sample"):
                batch = memory.batch(self.config["batch"])
            with belongs("loss"):
                loss = self.critic_loss(batch)
            self.apply(self.critic_opt, loss)
            with belongs("loss"):
                loss = self.policy_loss(batch)
            self.apply(self.policy_opt, loss)
            with belongs("target networks"):
                self.track()

    def track(self):
        cost("target networks")
        with torch.no_grad():
            for slow, fast in zip(self.slow, self.critics, strict=True):
                for a, b in zip(slow.parameters(), fast.parameters(), strict=True):
                    a.mul_(1 - self.config["tau"]).add_(b, alpha=self.config["tau"])
