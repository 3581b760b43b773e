"""Actor-critic with bootstrapped returns on a corridor whose only reward waits at its end.

The observation shows the size of that reward from the first step on; walking takes it sooner, waiting later. For
whatever needs episodes that are decided by their last reward.
"""

import gymnasium as gym
import numpy as np
import torch
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from torch import nn
from torch.distributions import Categorical

ENVS, STEPS, EPOCHS = 16, 16, 4
GAMMA, LR, ENTROPY = 0.9, 3e-3, 0.01


class Corridor(gym.Env):
    observation_space = gym.spaces.Box(-np.inf, np.inf, (3,), np.float32)
    action_space = gym.spaces.Discrete(2)
    length, patience = 5, 20

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.prize = self.np_random.uniform(-1.0, 1.0)
        self.place = self.clock = 0
        return self.look(), {}

    def step(self, action):
        self.place += int(action)
        self.clock += 1
        arrived = self.place == self.length
        return self.look(), self.prize * arrived, arrived, not arrived and self.clock == self.patience, {}

    def look(self):
        return np.array([self.prize, self.place / self.length, self.np_random.normal()], np.float32)


def collect(envs, obs, policy):
    """Rows of STEPS steps; `next_obs` is the state that really followed, also at an end."""
    rows = {name: [] for name in ("obs", "action", "reward", "terminated", "truncated", "next_obs")}
    for _ in range(STEPS):
        with torch.no_grad():
            action = Categorical(logits=policy(torch.as_tensor(obs))).sample().numpy()
        next_obs, reward, terminated, truncated, info = envs.step(action)
        followed = next_obs.copy()
        for i in np.flatnonzero(terminated | truncated):
            followed[i] = info["final_obs"][i]
        for name, entry in zip(rows, (obs, action, reward, terminated, truncated, followed), strict=True):
            rows[name].append(entry)
        obs = next_obs
    return {name: torch.as_tensor(np.stack(entries)) for name, entries in rows.items()}, obs


def discounted_returns(reward, terminated, truncated, next_value):
    returns = torch.zeros_like(reward)
    ahead = next_value[-1]
    for t in reversed(range(len(reward))):
        ahead = torch.where(truncated[t], next_value[t], ahead)
        ahead = reward[t] + GAMMA * ahead * ~terminated[t]
        returns[t] = ahead
    return returns


def train(watch, seed=0, env_id="Corridor-v0", updates=100):
    torch.manual_seed(seed)
    envs = SyncVectorEnv([{"Corridor-v0": Corridor}[env_id]] * ENVS, autoreset_mode=AutoresetMode.SAME_STEP)
    policy = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 2))
    critic = nn.Sequential(nn.Linear(3, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
    optimizer = torch.optim.Adam([*policy.parameters(), *critic.parameters()], lr=LR)
    prizes = []
    with watch(policy=policy, critic=critic, optimizer=optimizer, env=envs, gamma=GAMMA) as dbg:
        obs, _ = envs.reset(seed=seed)
        for _ in range(updates):
            batch, obs = collect(envs, obs, policy)
            prizes += batch["reward"][batch["terminated"]].tolist()
            batch["reward"] = batch["reward"].float()
            with torch.no_grad():
                value_t, value_tp1 = critic(batch["obs"]).squeeze(-1), critic(batch["next_obs"]).squeeze(-1)
            target = discounted_returns(batch["reward"], batch["terminated"], batch["truncated"], value_tp1)
            dbg.rollout(value=value_t, **{name: batch[name] for name in batch if name != "next_obs"})
            advantage = (target - value_t).flatten()
            target, seen, action = target.flatten(), batch["obs"].flatten(0, 1), batch["action"].flatten()
            for _ in range(EPOCHS):
                dist = Categorical(logits=policy(seen))
                policy_loss = -(dist.log_prob(action) * advantage).mean()
                value = critic(seen).squeeze(-1)
                value_loss = (value - target).square().mean()
                optimizer.zero_grad()
                (policy_loss + value_loss - ENTROPY * dist.entropy().mean()).backward()
                optimizer.step()
                losses = {"policy": policy_loss, "value": value_loss}
                dbg.update(loss=losses, value=value, target=target, advantage=advantage, dist=dist)
    envs.close()
    return {"returns": prizes, "policy": policy, "critic": critic, "steps": updates * STEPS * ENVS}


if __name__ == "__main__":
    import rldebug

    print(np.mean(train(rldebug.watch)["returns"][-200:]))
