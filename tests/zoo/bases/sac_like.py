"""Soft actor-critic with a fixed temperature on Pendulum-v1: twin critics, polyak targets, tanh-squashed Gaussian."""

import copy
import math

import gymnasium as gym
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

GAMMA, TAU, ALPHA = 0.95, 0.02, 0.1
BATCH, WARMUP, STEPS_PER_UPDATE = 128, 400, 2
LOG_STD_MIN, LOG_STD_MAX = -5.0, 2.0


class Actor(nn.Module):
    def __init__(self, obs_dim, act_dim, act_limit):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs_dim, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
        self.mu = nn.Linear(64, act_dim)
        self.log_std = nn.Linear(64, act_dim)
        self.act_limit = act_limit

    def forward(self, obs):
        h = self.body(obs)
        mu = self.mu(h)
        log_std = self.log_std(h).clamp(LOG_STD_MIN, LOG_STD_MAX)
        std = log_std.exp()
        noise = torch.randn_like(mu)
        u = mu + std * noise
        action = self.act_limit * torch.tanh(u)
        # density of u, then the change of variables u -> act_limit * tanh(u), one term per action dimension
        logp_u = (-0.5 * noise.pow(2) - log_std - 0.5 * math.log(2 * math.pi)).sum(-1)
        log_jacobian = 2 * (math.log(2) - u - F.softplus(-2 * u)) + math.log(self.act_limit)
        logp = logp_u - log_jacobian.sum(-1)
        return action, logp


class TwinCritic(nn.Module):
    def __init__(self, obs_dim, act_dim):
        super().__init__()
        n_in = obs_dim + act_dim
        self.q1 = nn.Sequential(nn.Linear(n_in, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
        self.q2 = nn.Sequential(nn.Linear(n_in, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, obs, action):
        x = torch.cat([obs, action], dim=-1)
        return self.q1(x).squeeze(-1), self.q2(x).squeeze(-1)


@torch.no_grad()
def polyak(target, source):
    for p_target, p in zip(target.parameters(), source.parameters(), strict=True):
        p_target.mul_(1 - TAU).add_(p, alpha=TAU)


def train(watch, seed=0, env_id="Pendulum-v1", updates=1400):
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    env = gym.make(env_id)
    env.action_space.seed(seed)
    obs_dim, act_dim = env.observation_space.shape[0], env.action_space.shape[0]
    actor = Actor(obs_dim, act_dim, float(env.action_space.high[0]))
    critic = TwinCritic(obs_dim, act_dim)
    critic_target = copy.deepcopy(critic).requires_grad_(False)
    opts = {
        "actor": torch.optim.Adam(actor.parameters(), lr=3e-3),
        "q1": torch.optim.Adam(critic.q1.parameters(), lr=3e-3),
        "q2": torch.optim.Adam(critic.q2.parameters(), lr=3e-3),
    }
    n_steps = WARMUP + STEPS_PER_UPDATE * updates
    memory = {  # as long as the run: nothing is ever overwritten
        "obs": torch.zeros(n_steps, obs_dim),
        "action": torch.zeros(n_steps, act_dim),
        "reward": torch.zeros(n_steps),
        "next_obs": torch.zeros(n_steps, obs_dim),
        "terminated": torch.zeros(n_steps, dtype=torch.bool),
        "truncated": torch.zeros(n_steps, dtype=torch.bool),
        "age": torch.zeros(n_steps, dtype=torch.long),
    }
    returns, total = [], 0.0

    with watch(policy=actor, critic=critic, target=critic_target, optimizer=opts, env=env, gamma=GAMMA) as dbg:
        obs, _ = env.reset(seed=seed)
        for step in range(n_steps):
            if step < WARMUP:
                action = env.action_space.sample()
            else:
                with torch.no_grad():
                    action = actor(torch.as_tensor(obs))[0].numpy()
            next_obs, reward, terminated, truncated, _ = env.step(action)
            memory["obs"][step] = torch.as_tensor(obs)
            memory["action"][step] = torch.as_tensor(action)
            memory["reward"][step] = float(reward)
            memory["next_obs"][step] = torch.as_tensor(next_obs)
            memory["terminated"][step] = terminated
            memory["truncated"][step] = truncated
            memory["age"][step] = dbg.age
            total += float(reward)
            obs = next_obs
            if terminated or truncated:
                returns.append(total)
                total = 0.0
                obs, _ = env.reset()
            if step < WARMUP or step % STEPS_PER_UPDATE:
                continue

            picks = torch.as_tensor(rng.integers(step + 1, size=BATCH))
            s, a, r, s2, term, trunc, age = (column[picks] for column in memory.values())
            dbg.replay(obs=s, action=a, reward=r, next_obs=s2, terminated=term, truncated=trunc)

            with torch.no_grad():
                a2, logp2 = actor(s2)
                target_q = torch.min(*critic_target(s2, a2))
                soft_value = target_q - ALPHA * logp2
                y = r + GAMMA * (~term) * soft_value
            q1, q2 = critic(s, a)
            q1_loss = F.mse_loss(q1, y)
            q2_loss = F.mse_loss(q2, y)
            opts["q1"].zero_grad()
            opts["q2"].zero_grad()
            (q1_loss + q2_loss).backward()
            opts["q1"].step()
            opts["q2"].step()

            pi, logp = actor(s)
            q_pi = torch.min(*critic(s, pi))
            actor_loss = (ALPHA * logp - q_pi).mean()
            opts["actor"].zero_grad()
            actor_loss.backward()
            opts["actor"].step()

            polyak(critic_target, critic)
            dbg.update(
                loss={"policy": actor_loss, "value": q1_loss + q2_loss},
                value=q1,
                target=y,
                entropy=-logp.detach(),
                collected_at=age,
            )
    env.close()
    return {"returns": returns, "policy": actor, "critic": critic, "target": critic_target, "steps": n_steps}


if __name__ == "__main__":
    import rldebug

    print(train(rldebug.watch)["returns"])
