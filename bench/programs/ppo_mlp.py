"""PPO on CartPole, four environments, two networks of 64×64. python ppo_mlp.py ROLLOUTS"""

import sys
import time

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

LANES, STEPS, EPOCHS, MINIBATCHES = 4, 128, 4, 4


def mlp(outputs):
    return nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs))


def main(rollouts):
    torch.set_num_threads(1)
    torch.manual_seed(1)
    np.random.seed(1)
    envs = gym.vector.SyncVectorEnv(
        [lambda: gym.make("CartPole-v1")] * LANES,
        autoreset_mode=gym.vector.AutoresetMode.SAME_STEP,
    )
    actor, critic = mlp(2), mlp(1)
    parameters = [*actor.parameters(), *critic.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=2.5e-4, eps=1e-5)
    observations = torch.zeros(STEPS, LANES, 4)
    actions = torch.zeros(STEPS, LANES, dtype=torch.long)
    logps, values, rewards, dones = (torch.zeros(STEPS, LANES) for _ in range(4))
    obs = torch.as_tensor(envs.reset(seed=1)[0])
    for rollout in range(rollouts):
        for t in range(STEPS):
            with torch.no_grad():
                dist = Categorical(logits=actor(obs))
                action = dist.sample()
                values[t] = critic(obs).flatten()
                logps[t] = dist.log_prob(action)
            observations[t], actions[t] = obs, action
            following, reward, terminated, truncated, _ = envs.step(action.numpy())
            rewards[t] = torch.as_tensor(reward)
            dones[t] = torch.as_tensor(terminated | truncated, dtype=torch.float32)
            obs = torch.as_tensor(following)
        with torch.no_grad():
            advantages, carried, ahead = torch.zeros_like(rewards), torch.zeros(LANES), critic(obs).flatten()
            for t in reversed(range(STEPS)):
                error = rewards[t] + 0.99 * ahead * (1 - dones[t]) - values[t]
                carried = error + 0.99 * 0.95 * (1 - dones[t]) * carried
                advantages[t], ahead = carried, values[t]
            returns = advantages + values
        rows = STEPS * LANES
        for _ in range(EPOCHS):
            for part in torch.randperm(rows).chunk(MINIBATCHES):
                seen = observations.reshape(rows, 4)[part]
                dist = Categorical(logits=actor(seen))
                ratio = (dist.log_prob(actions.reshape(rows)[part]) - logps.reshape(rows)[part]).exp()
                weight = advantages.reshape(rows)[part]
                weight = (weight - weight.mean()) / (weight.std() + 1e-8)
                policy_loss = torch.max(-weight * ratio, -weight * ratio.clamp(0.8, 1.2)).mean()
                value_loss = 0.5 * (critic(seen).flatten() - returns.reshape(rows)[part]).square().mean()
                loss = policy_loss + 0.5 * value_loss - 0.01 * dist.entropy().mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(parameters, 0.5)
                optimizer.step()
        if rollout % 50 == 0:
            print(f"rollout {rollout}: value loss {value_loss.item():.3f}")
    envs.close()


if __name__ == "__main__":
    main(int(sys.argv[1]))
    print(f"cpu {time.process_time():.3f}", flush=True)
