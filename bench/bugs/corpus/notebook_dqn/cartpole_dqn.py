#!/usr/bin/env python
# coding: utf-8

# %% [markdown]
# # Balancing a pole with a Q-network
# Homework 4, second attempt. Exported from `cartpole_dqn.ipynb`.
# Plan: collect -> replay -> smooth L1 on the TD error -> copy the weights now and then.

# %%
import random
import time
from collections import deque, namedtuple

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
SEED = 1

# %% hyperparameters
GAMMA = 0.97
LR = 3e-3
BATCH = 64
MEMORY = 10000
WARMUP = 400
N_FRAMES = 7200
LEARN_EVERY = 4
COPY_EVERY = 60          # in gradient steps
EPS_START = 1.0
EPS_MIN = 0.02
EPS_DECAY = 0.94         # per episode
HIDDEN = 128

# %% environment
env = gym.make("CartPole-v1", max_episode_steps=200)
n_obs = env.observation_space.shape[0]
n_act = int(env.action_space.n)
print("obs", n_obs, "actions", n_act)

random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)
env.action_space.seed(SEED)


# %% network
class QNet(nn.Module):
    def __init__(self, n_obs, n_act):
        super().__init__()
        self.fc1 = nn.Linear(n_obs, HIDDEN)
        self.out = nn.Linear(HIDDEN, n_act)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        return self.out(x)


qnet = QNet(n_obs, n_act)
tnet = QNet(n_obs, n_act)
tnet.load_state_dict(qnet.state_dict())
tnet.eval()
opt = torch.optim.Adam(qnet.parameters(), lr=LR)
# learning rate goes down to a tenth over the run
sched = torch.optim.lr_scheduler.LinearLR(opt, 1.0, 0.1, total_iters=(N_FRAMES - WARMUP) // LEARN_EVERY)
print(qnet)

# %% replay memory
Transition = namedtuple("Transition", "s a r s2 term")
memory = deque(maxlen=MEMORY)


def pick_action(s, eps):
    if random.random() < eps:
        return random.randrange(n_act)
    with torch.no_grad():
        q = qnet(torch.as_tensor(s, dtype=torch.float32).unsqueeze(0))
    return int(q.argmax(dim=1).item())


def batch_from_memory():
    rows = random.sample(memory, BATCH)
    cols = Transition(*zip(*rows))
    s = torch.from_numpy(np.stack(cols.s)).float()
    a = torch.tensor(cols.a, dtype=torch.int64).unsqueeze(1)
    r = torch.tensor(cols.r, dtype=torch.float32)
    s2 = torch.from_numpy(np.stack(cols.s2)).float()
    term = torch.tensor(cols.term, dtype=torch.float32)
    return s, a, r, s2, term


def learn():
    s, a, r, s2, term = batch_from_memory()
    q_sa = qnet(s).gather(1, a).squeeze(1)
    with torch.no_grad():
        best_next = tnet(s2).max(dim=1).values
        y = r + GAMMA * (1.0 - term) * best_next
    loss = F.smooth_l1_loss(q_sa, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    return loss.item(), q_sa.mean().item()


# %% training
eps = EPS_START
frames = 0
grad_steps = 0
episode = 0
returns = []
losses, q_means = [], []
t0 = time.time()

state, _ = env.reset(seed=SEED)
ep_return = 0.0
while frames < N_FRAMES:
    action = pick_action(state, eps)
    next_state, reward, terminated, truncated, _ = env.step(action)
    memory.append(Transition(state, action, reward, next_state, terminated))
    state = next_state
    ep_return += reward
    frames += 1

    if len(memory) >= WARMUP and frames % LEARN_EVERY == 0:
        loss, q_mean = learn()
        grad_steps += 1
        losses.append(loss)
        q_means.append(q_mean)
        if grad_steps % COPY_EVERY == 0:
            tnet.load_state_dict(qnet.state_dict())

    if terminated or truncated:
        episode += 1
        returns.append(ep_return)
        eps = max(EPS_MIN, eps * EPS_DECAY)
        if episode % 20 == 0:
            print(f"episode {episode:4d}  frames {frames:6d}  eps {eps:.3f}  "
                  f"return {np.mean(returns[-20:]):6.1f}  "
                  f"loss {np.mean(losses[-200:]) if losses else 0:.4f}  "
                  f"q {np.mean(q_means[-200:]) if q_means else 0:.2f}")
        state, _ = env.reset()
        ep_return = 0.0

env.close()
print("took %.1f s, %d gradient steps" % (time.time() - t0, grad_steps))

# %% how good is it without the random moves?
test_env = gym.make("CartPole-v1", max_episode_steps=200)
scores = []
for k in range(10):
    s, _ = test_env.reset(seed=1000 + k)
    total, over = 0.0, False
    while not over:
        with torch.no_grad():
            a = int(qnet(torch.as_tensor(s, dtype=torch.float32).unsqueeze(0)).argmax(dim=1).item())
        s, r, terminated, truncated, _ = test_env.step(a)
        total += r
        over = terminated or truncated
    scores.append(total)
test_env.close()
print(f"greedy score over {len(scores)} episodes: {np.mean(scores):.1f}")
print(f"mean return of the last 20 episodes: {np.mean(returns[-20:]):.1f}")
