"""PPO with a recurrent cell, on a corridor at whose end one must remember what stood at its beginning."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

FAULTS = {
    "state-of-the-first-rows": "BUF368",
}

GAMMA, LAM, CLIP = 0.98, 0.95, 0.2
LANES, STEPS, LENGTH, ROUNDS, HIDDEN = 8, 32, 8, 8, 16


class Corridor(gym.Env):
    """A lamp is seen in the first step. Actions: left, right, forward."""

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(-1.0, 1.0, (4,), np.float32)
        self.action_space = gym.spaces.Discrete(3)

    def _seen(self):
        seen = np.zeros(4, np.float32)
        if self.place == 0:
            seen[self.lamp] = 1.0
        seen[2] = float(self.place == self.length)
        seen[3] = self.np_random.uniform(-0.2, 0.2)
        return seen

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.lamp, self.length = int(self.np_random.integers(2)), int(self.np_random.integers(2, 5))
        self.place = self.t = 0
        return self._seen(), {}

    def step(self, action):
        self.t += 1
        reward, terminated = -0.02, False
        if self.place < self.length:
            if action == 2:
                self.place += 1
            else:
                reward -= 0.1
        elif action != 2:
            reward, terminated = (1.0 if action == self.lamp else -1.0), True
        return self._seen(), reward, terminated, self.t >= 14 and not terminated, {}


class Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(4, HIDDEN), nn.Tanh())
        self.cell = nn.GRUCell(HIDDEN, HIDDEN)
        self.policy, self.value = nn.Linear(HIDDEN, 3), nn.Linear(HIDDEN, 1)

    def forward(self, seen, state, start):
        state = self.cell(self.encoder(seen), state * (1.0 - start).unsqueeze(-1))
        return self.policy(state), self.value(state).squeeze(-1), state


def sequences(rows):
    """(steps, lanes, …) becomes (length, sequences, …)."""
    cut = rows.reshape(STEPS // LENGTH, LENGTH, LANES, *rows.shape[2:]).transpose(0, 1)
    return cut.reshape(LENGTH, -1, *cut.shape[3:])


def program(fault: str = "") -> None:
    torch.manual_seed(1)
    envs = [Corridor() for _ in range(LANES)]
    network = Network()
    optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)
    obs = torch.as_tensor(np.stack([env.reset(seed=i)[0] for i, env in enumerate(envs)]))
    state, begins = torch.zeros(LANES, HIDDEN), torch.ones(LANES)
    for _ in range(ROUNDS):
        seen, states = torch.zeros(STEPS, LANES, 4), torch.zeros(STEPS, LANES, HIDDEN)
        actions = torch.zeros(STEPS, LANES, dtype=torch.long)
        log_probs, rewards, values, starts, dones = (torch.zeros(STEPS, LANES) for _ in range(5))
        for t in range(STEPS):
            seen[t], states[t], starts[t] = obs, state, begins
            with torch.no_grad():
                logits, values[t], state = network(obs, state, begins)
            policy = Categorical(logits=logits)
            actions[t] = policy.sample()
            log_probs[t] = policy.log_prob(actions[t])
            following = []
            for i, env in enumerate(envs):
                after, reward, terminated, truncated, _ = env.step(int(actions[t, i]))
                if truncated:
                    with torch.no_grad():
                        reward += (
                            GAMMA * network(torch.as_tensor(after)[None], state[i : i + 1], torch.zeros(1))[1].item()
                        )
                rewards[t, i], dones[t, i] = reward, float(terminated or truncated)
                following.append(env.reset()[0] if terminated or truncated else after)
            obs, begins = torch.as_tensor(np.stack(following)), dones[t]
        with torch.no_grad():
            value = network(obs, state, begins)[1]
        advantage, carried = torch.zeros(STEPS, LANES), torch.zeros(LANES)
        for t in reversed(range(STEPS)):
            error = rewards[t] + GAMMA * value * (1 - dones[t]) - values[t]
            carried = error + GAMMA * LAM * (1 - dones[t]) * carried
            advantage[t], value = carried, values[t]
        parts = [sequences(each) for each in (seen, starts, actions, log_probs, advantage, advantage + values)]
        first = sequences(states)[0]
        if fault == "state-of-the-first-rows":
            first = states[0].repeat(STEPS // LENGTH, 1)
        for _ in range(4):
            for rows in torch.randperm(len(first)).chunk(2):
                batch, flag, taken, old, gain, goal = (each[:, rows] for each in parts)
                memory, logits, told = first[rows], [], []
                for t in range(LENGTH):
                    now, value, memory = network(batch[t], memory, flag[t])
                    logits.append(now)
                    told.append(value)
                policy = Categorical(logits=torch.stack(logits))
                gain = (gain - gain.mean()) / (gain.std() + 1e-8)
                ratio = torch.exp(policy.log_prob(taken) - old)
                surrogate = torch.min(ratio * gain, torch.clamp(ratio, 1 - CLIP, 1 + CLIP) * gain).mean()
                value_loss = (torch.stack(told) - goal).pow(2).mean()
                loss = -surrogate + 0.5 * value_loss - 0.01 * policy.entropy().mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(network.parameters(), 0.5)
                optimizer.step()
