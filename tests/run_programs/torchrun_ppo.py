"""PPO in the processes that torchrun starts. Arguments: what is wrong, `ddp` and `sgd` for other healthy ways."""

import hashlib
import os
import signal
import sys

import gymnasium as gym
import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.distributions import Categorical
from torch.nn.parallel import DistributedDataParallel

STEPS, EPOCHS, MINIBATCHES, ITERATIONS = 128, 4, 4, 6


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
        self.critic = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
        for each in self.modules():
            if isinstance(each, nn.Linear):
                nn.init.orthogonal_(each.weight)
                nn.init.zeros_(each.bias)

    def forward(self, obs):
        return Categorical(logits=self.actor(obs)), self.critic(obs).squeeze(-1)


class Normaliser:
    def __init__(self, size):
        self.mean, self.var, self.count = np.zeros(size), np.ones(size), 1e-4

    def update(self, batch, shared):
        moments = torch.tensor(np.stack([batch.sum(0), (batch**2).sum(0), np.full(batch.shape[1], len(batch))]))
        if shared:
            dist.all_reduce(moments)
        total, squares, count = moments.numpy()
        mean, n = total / count, count[0]
        var = squares / count - mean**2
        gap, whole = mean - self.mean, self.count + n
        self.var = (self.var * self.count + var * n + gap**2 * self.count * n / whole) / whole
        self.mean = self.mean + gap * n / whole
        self.count = whole

    def __call__(self, obs):
        return ((obs - self.mean) / np.sqrt(self.var + 1e-8)).astype(np.float32)


def reduce_gradients(agent, world, wrong):
    for each in agent.parameters():
        dist.all_reduce(each.grad)
        if "summed" not in wrong:
            each.grad /= world


def main(wrong):
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(7 if "not-broadcast" not in wrong else 7 + rank)
    agent = Agent()
    if "not-broadcast" not in wrong and "ddp" not in wrong:
        for each in agent.parameters():
            dist.broadcast(each.data, 0)
    net = DistributedDataParallel(agent) if "ddp" in wrong else agent
    torch.manual_seed(7 if "same-seed" in wrong else 100 + rank)
    env = gym.make("CartPole-v1")
    same = "same-seed" in wrong or "same-env-seed" in wrong
    obs, _ = env.reset(seed=3 if same else 3 + 1000 * rank)
    if "sgd" in wrong:
        optimizer = torch.optim.SGD(agent.parameters(), 1e-2)
    else:
        optimizer = torch.optim.Adam(agent.parameters(), 2.5e-3, eps=1e-5)
    normaliser = Normaliser(4)
    normalised = "normalised" in wrong or "own-statistics" in wrong
    for iteration in range(ITERATIONS):
        kept = {name: [] for name in ("obs", "action", "logp", "reward", "over", "value")}
        raw = []
        for _ in range(STEPS):
            raw.append(obs)
            given = torch.as_tensor(normaliser(obs) if normalised else obs)
            with torch.no_grad():
                policy, value = agent(given)
                action = policy.sample()
            obs, reward, ended, cut, _ = env.step(int(action))
            numbers = (given, action, policy.log_prob(action), reward, float(ended or cut), value)
            for name, each in zip(kept, numbers, strict=True):
                kept[name].append(torch.as_tensor(each))
            if ended or cut:
                obs, _ = env.reset()
        if normalised:
            normaliser.update(np.array(raw), shared="own-statistics" not in wrong)
        with torch.no_grad():
            following = agent(torch.as_tensor(normaliser(obs) if normalised else obs))[1]
        advantages, carried = torch.zeros(STEPS), 0.0
        for t in reversed(range(STEPS)):
            alive = 1.0 - kept["over"][t]
            delta = kept["reward"][t] + 0.99 * following * alive - kept["value"][t]
            carried = delta + 0.99 * 0.95 * alive * carried
            advantages[t], following = carried, kept["value"][t]
        data = {name: torch.stack(each).float() for name, each in kept.items()}
        returns = advantages + data["value"]
        stop = False
        for _ in range(EPOCHS):
            for rows in torch.randperm(STEPS).chunk(MINIBATCHES):
                policy, value = net(data["obs"][rows])
                logp = policy.log_prob(data["action"][rows])
                ratio = (logp - data["logp"][rows]).exp()
                adv = advantages[rows]
                adv = (adv - adv.mean()) / (adv.std() + 1e-8)
                gain = torch.min(ratio * adv, ratio.clamp(0.8, 1.2) * adv).mean()
                loss = -gain + 0.5 * (value - returns[rows]).pow(2).mean() - 0.01 * policy.entropy().mean()
                optimizer.zero_grad()
                loss.backward()
                if "ddp" not in wrong:
                    reduce_gradients(agent, world, wrong)
                if "reduced-twice" in wrong:
                    for each in agent.parameters():
                        dist.all_reduce(each.grad)
                if "divided-twice" in wrong:
                    for each in agent.parameters():
                        each.grad /= world
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimizer.step()
            kl = (data["logp"][rows] - logp).mean().detach()
            if "own-stop" in wrong and rank == 1 and iteration % 2 == 1:  # as a threshold between the two would do
                break
            if "shared-stop" in wrong:
                dist.all_reduce(kl)
                stop = kl / world > 0.02
            if stop:
                break
        if rank == 1 and iteration == 3:
            if "killed" in wrong:
                os.kill(os.getpid(), signal.SIGKILL)
            if "raises" in wrong:
                raise ValueError(f"a reward of {reward} in iteration {iteration}")
        if "report-by-first" in wrong and rank == 0 and iteration == 4:
            dist.all_reduce(torch.tensor(1.0))
    digest = hashlib.sha256(b"".join(each.detach().numpy().tobytes() for each in agent.parameters()))
    print(f"rank {rank} {digest.hexdigest()}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1:])
