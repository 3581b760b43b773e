"""DQN with a replay ring in numpy and a hard-synced target network: CartPole-v1, Acrobot-v1."""

import copy

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CONFIG = {
    "gamma": 0.99,
    "lr": 1e-3,
    "buffer_size": 10_000,
    "batch_size": 64,
    "learning_starts": 500,
    "train_every": 2,
    "sync_every": 100,
    "eps_start": 1.0,
    "eps_end": 0.05,
    "eps_fraction": 0.4,
}


class QNetwork(nn.Module):
    def __init__(self, obs_dim, n_actions):
        super().__init__()
        self.fc1 = nn.Linear(obs_dim, 64)
        self.fc2 = nn.Linear(64, 64)
        self.head = nn.Linear(64, n_actions)

    def forward(self, obs):
        x = F.relu(self.fc1(obs))
        x = F.relu(self.fc2(x))
        return self.head(x)


class ReplayRing:
    def __init__(self, capacity, obs_dim, rng):
        self.capacity, self.rng = capacity, rng
        self.obs = np.empty((capacity, obs_dim), np.float32)
        self.next_obs = np.empty((capacity, obs_dim), np.float32)
        self.action = np.empty(capacity, np.int64)
        self.reward = np.empty(capacity, np.float32)
        self.terminated = np.empty(capacity, np.bool_)
        self.truncated = np.empty(capacity, np.bool_)
        self.born = np.empty(capacity, np.int64)
        self.head, self.full = 0, False

    def __len__(self):
        return self.capacity if self.full else self.head

    def add(self, obs, action, reward, next_obs, terminated, truncated, born):
        self.obs[self.head] = obs
        self.action[self.head] = action
        self.reward[self.head] = reward
        self.next_obs[self.head] = next_obs
        self.terminated[self.head] = terminated
        self.truncated[self.head] = truncated
        self.born[self.head] = born
        self.full = self.full or self.head + 1 == self.capacity
        self.head = (self.head + 1) % self.capacity

    def sample(self, n):
        rows = self.rng.integers(0, len(self), size=n)
        fields = ("obs", "action", "reward", "next_obs", "terminated", "truncated", "born")
        return {name: torch.from_numpy(getattr(self, name)[rows]) for name in fields}


def epsilon_at(step, total_steps, cfg):
    progress = min(1.0, step / (cfg["eps_fraction"] * total_steps))
    return cfg["eps_start"] + progress * (cfg["eps_end"] - cfg["eps_start"])


def train(watch, seed=0, env_id="CartPole-v1", updates=4000):
    cfg = CONFIG
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    env = gym.make(env_id)
    obs_dim, n_actions = env.observation_space.shape[0], int(env.action_space.n)

    q_net = QNetwork(obs_dim, n_actions)
    target_net = copy.deepcopy(q_net)
    optimizer = torch.optim.Adam(q_net.parameters(), lr=cfg["lr"])
    ring = ReplayRing(cfg["buffer_size"], obs_dim, rng)

    total_steps = cfg["learning_starts"] + updates * cfg["train_every"]
    returns, episode_return, n_updates = [], 0.0, 0
    with watch(critic=q_net, target=target_net, optimizer=optimizer, env=env, gamma=cfg["gamma"]) as dbg:
        obs, _ = env.reset(seed=seed)
        for step in range(total_steps):
            epsilon = epsilon_at(step, total_steps, cfg)
            if rng.random() < epsilon:
                action = int(rng.integers(n_actions))
            else:
                with torch.no_grad():
                    action = int(q_net(torch.from_numpy(obs)).argmax())
            next_obs, reward, terminated, truncated, _ = env.step(action)
            ring.add(obs, action, reward, next_obs, terminated, truncated, dbg.age)
            episode_return += float(reward)
            obs = next_obs
            if terminated or truncated:
                returns.append(episode_return)
                dbg.metric("episode_return", episode_return)
                episode_return = 0.0
                obs, _ = env.reset()

            if step < cfg["learning_starts"] or step % cfg["train_every"] != 0:
                continue

            batch = ring.sample(cfg["batch_size"])
            dbg.replay(**{name: batch[name] for name in batch if name != "born"})
            with torch.no_grad():
                next_q = target_net(batch["next_obs"]).max(dim=1).values
                not_terminal = 1.0 - batch["terminated"].float()
                td_target = batch["reward"] + cfg["gamma"] * not_terminal * next_q
            q_taken = q_net(batch["obs"]).gather(1, batch["action"].unsqueeze(1)).squeeze(1)
            loss = F.smooth_l1_loss(q_taken, td_target)

            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(q_net.parameters(), 10.0)
            optimizer.step()
            n_updates += 1
            dbg.update(
                loss={"value": loss},
                value=q_taken,
                target=td_target,
                epsilon=epsilon,
                collected_at=batch["born"],
            )
            if n_updates % cfg["sync_every"] == 0:
                target_net.load_state_dict(q_net.state_dict())
    env.close()
    return {"returns": returns, "policy": q_net, "target": target_net, "steps": total_steps}


if __name__ == "__main__":
    import rldebug

    print(np.mean(train(rldebug.watch)["returns"][-20:]))
