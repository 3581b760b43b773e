"""Two processes that train together by REINFORCE. Arguments: how they are started, and what is wrong."""

import hashlib
import sys
import tempfile
from pathlib import Path

import gymnasium as gym
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

WORLD = 2
GAMMA = 0.98
UPDATES = 16


def average(net, wrong):
    for each in net.parameters():
        total = each.grad.clone()
        dist.all_reduce(total)
        if "not-written-back" not in wrong:
            each.grad.copy_(total / WORLD)


def rollout(env, net, seed):
    obs, _ = env.reset(seed=seed)
    logps, rewards, over = [], [], False
    while not over:
        choice = torch.distributions.Categorical(logits=net(torch.as_tensor(obs)))
        action = choice.sample()
        logps.append(choice.log_prob(action))
        obs, reward, ended, cut, _ = env.step(int(action))
        rewards.append(reward)
        over = ended or cut
    returns, carried = [], 0.0
    for reward in reversed(rewards):
        carried = reward + GAMMA * carried
        returns.append(carried)
    returns = torch.tensor(returns[::-1])
    return -(torch.stack(logps) * (returns - returns.mean())).mean()


def train(rank, folder, wrong):
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=WORLD)
    seed = 0 if "same-seed" in wrong else rank
    torch.manual_seed(seed)
    env = gym.make("CartPole-v1")
    net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
    if "not-broadcast" not in wrong:
        for each in net.parameters():
            dist.broadcast(each.data, 0)
    optimizer = torch.optim.Adam(net.parameters(), 1e-2)
    for update in range(UPDATES):
        loss = rollout(env, net, seed=1000 * seed + update)
        optimizer.zero_grad()
        loss.backward()
        average(net, wrong)
        optimizer.step()
    torch.save(net.state_dict(), f"{folder}/{rank}.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    method, *wrong = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        mp.start_processes(train, args=(folder, wrong), nprocs=WORLD, start_method=method)
        for rank in range(WORLD):
            state = torch.load(Path(folder) / f"{rank}.pt")
            digest = hashlib.sha256(b"".join(each.numpy().tobytes() for each in state.values()))
            print("rank", rank, digest.hexdigest())
