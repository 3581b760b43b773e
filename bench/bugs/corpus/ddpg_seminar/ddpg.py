# %% [markdown]
# # Seminar 7: deterministic policy gradients
#
# We drive a trolley on a rail of two metres. The motor pulls with a force between -3 and 3; the trolley should come
# to rest in the middle. If it runs off the rail the trial is over.
#
# Everything is in physical units (centimetres!), so both networks begin with a batch normalisation layer.

# %%
import copy
import random
from collections import deque, namedtuple

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SEED = 1
EPISODES = 42
T_MAX = 40            # a trial is stopped after so many steps
WARMUP = 300          # steps with random forces
MEMORY = 10000
MICRO_BATCH = 32      # the machines in the lab are small: two halves of a batch are accumulated
ACCUMULATE = 2
UPDATE_EVERY = 2
GAMMA = 0.95
TAU = 0.03
LR_ACTOR = 1e-3
LR_CRITIC = 3e-3
MAX_FORCE = 3.0

random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)
torch.set_num_threads(1)


# %% [markdown]
# ## The trolley

# %%
class Trolley:
    n_state, n_action = 2, 1

    def __init__(self, seed):
        self.rng = random.Random(seed)

    def reset(self):
        self.pos = self.rng.uniform(-70.0, 70.0)
        self.vel = self.rng.uniform(-8.0, 8.0)
        return np.array([self.pos, self.vel], dtype=np.float32)

    def step(self, force):
        force = max(-MAX_FORCE, min(MAX_FORCE, float(force)))
        self.vel = 0.95 * self.vel + 1.2 * force
        self.pos = self.pos + self.vel
        off = abs(self.pos) > 100.0
        reward = -abs(self.pos) / 100.0 - 0.01 * (force / MAX_FORCE) ** 2
        if off:
            reward = reward - 20.0
        return np.array([self.pos, self.vel], dtype=np.float32), reward, off


# %% [markdown]
# ## Networks

# %%
class Actor(nn.Module):
    def __init__(self, n_state, n_action):
        super().__init__()
        self.norm = nn.BatchNorm1d(n_state)
        self.fc1 = nn.Linear(n_state, 48)
        self.fc2 = nn.Linear(48, n_action)
        nn.init.uniform_(self.fc2.weight, -3e-3, 3e-3)
        nn.init.zeros_(self.fc2.bias)

    def forward(self, s):
        return MAX_FORCE * torch.tanh(self.fc2(F.relu(self.fc1(self.norm(s)))))


class Critic(nn.Module):
    def __init__(self, n_state, n_action):
        super().__init__()
        self.norm = nn.BatchNorm1d(n_state)
        self.fc1 = nn.Linear(n_state + n_action, 64)
        self.fc2 = nn.Linear(64, 64)
        self.fc3 = nn.Linear(64, 1)

    def forward(self, s, a):
        x = torch.cat((self.norm(s), a / MAX_FORCE), dim=1)
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))


# %% [markdown]
# ## Exploration: Ornstein-Uhlenbeck process

# %%
class OUNoise:
    def __init__(self, size, theta=0.2, sigma=0.2):
        self.size, self.theta, self.sigma = size, theta, sigma
        self.reset()

    def reset(self):
        self.x = np.zeros(self.size)

    def __call__(self):
        self.x = self.x + self.theta * (0.0 - self.x) + self.sigma * np.random.randn(self.size)
        return self.x


# %% [markdown]
# ## Replay memory

# %%
Transition = namedtuple("Transition", "s a r s_next terminal")
memory = deque(maxlen=MEMORY)


def sample_batch(n):
    rows = random.sample(memory, n)
    cols = Transition(*zip(*rows))
    s = torch.tensor(np.array(cols.s))
    a = torch.tensor(np.array(cols.a), dtype=torch.float32)
    r = torch.tensor(cols.r, dtype=torch.float32).unsqueeze(1)
    s_next = torch.tensor(np.array(cols.s_next))
    terminal = torch.tensor(cols.terminal, dtype=torch.float32).unsqueeze(1)
    return s, a, r, s_next, terminal


# %% [markdown]
# ## Target networks
# They are copies that follow slowly. The statistics of the normalisation layers are taken over as they are.
# The copies are only ever used in evaluation mode.

# %%
env = Trolley(SEED)
actor = Actor(env.n_state, env.n_action)
critic = Critic(env.n_state, env.n_action)
actor_target = copy.deepcopy(actor).eval()
critic_target = copy.deepcopy(critic).eval()

opt_actor = torch.optim.Adam(actor.parameters(), lr=LR_ACTOR)
opt_critic = torch.optim.Adam(critic.parameters(), lr=LR_CRITIC)


def soft_update(target, source):
    for w_target, w in zip(target.parameters(), source.parameters()):
        w_target.data = (1 - TAU) * w_target.data + TAU * w.data
    for b_target, b in zip(target.buffers(), source.buffers()):
        b_target.data.copy_(b.data)


# %% [markdown]
# ## One step of learning

# %%
def learn():
    actor.train()
    critic.train()
    parts = [sample_batch(MICRO_BATCH) for _ in range(ACCUMULATE)]

    opt_critic.zero_grad()
    for s, a, r, s_next, terminal in parts:
        with torch.no_grad():
            y = r + GAMMA * (1 - terminal) * critic_target(s_next, actor_target(s_next))
        loss = ((critic(s, a) - y) ** 2).mean() / ACCUMULATE
        loss.backward()
    opt_critic.step()

    opt_actor.zero_grad()
    for s, *_ in parts:
        gain = critic(s, actor(s)).mean() / ACCUMULATE
        (-gain).backward()
    opt_actor.step()

    soft_update(actor_target, actor)
    soft_update(critic_target, critic)


def act(s):
    actor.eval()
    with torch.no_grad():
        return actor(torch.from_numpy(s).unsqueeze(0)).numpy()[0]


# %% [markdown]
# ## Training

# %%
noise = OUNoise(env.n_action)
steps = 0
for episode in range(EPISODES):
    s = env.reset()
    noise.reset()
    total = 0.0
    for t in range(T_MAX):
        if steps < WARMUP:
            a = np.random.uniform(-MAX_FORCE, MAX_FORCE, size=env.n_action)
        else:
            a = np.clip(act(s) + MAX_FORCE * noise(), -MAX_FORCE, MAX_FORCE)
        s_next, r, off = env.step(a[0])
        memory.append(Transition(s, a, r, s_next, off))
        s = s_next
        total += r
        steps += 1
        if steps >= WARMUP and steps % UPDATE_EVERY == 0:
            learn()
        if off:
            break
    if (episode + 1) % 20 == 0:
        print(f"trial {episode + 1}: {t + 1} steps, total reward {total:.2f}")

# %% [markdown]
# ## Test: no noise, new starting points

# %%
test_env = Trolley(SEED + 777)
totals = []
for trial in range(25):
    s = test_env.reset()
    total = 0.0
    for t in range(T_MAX):
        s, r, off = test_env.step(act(s)[0])
        total += r
        if off:
            break
    totals.append(total)
print(f"average of {len(totals)} test trials = {np.mean(totals):.3f}")
