"""What people write today: PPO, A2C and DQN in the well-known single-file style, as the yardstick of `throughput.py`.

Written for this benchmark, in the manner of the implementations that most RL scripts start from, CleanRL's above all: a
vector of Gymnasium environments, tensors moved at every step, `torch.distributions`, Adam as it comes, a replay buffer
from Stable-Baselines3, and TensorBoard scalars as often as those write them. Sound, and not tuned for speed.
"""

from __future__ import annotations

import tempfile
import time
from typing import Any

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from torch.distributions.categorical import Categorical
from torch.utils.tensorboard import SummaryWriter


def layer_init(layer: Any, std: float = np.sqrt(2), bias: float = 0.0) -> Any:
    torch.nn.init.orthogonal_(layer.weight, std)
    torch.nn.init.constant_(layer.bias, bias)
    return layer


def log_episodes(writer: SummaryWriter, infos: Any, step: int) -> None:
    if "episode" in infos:
        for i in np.flatnonzero(infos["_episode"]):
            writer.add_scalar("charts/episodic_return", infos["episode"]["r"][i], step)
            writer.add_scalar("charts/episodic_length", infos["episode"]["l"][i], step)


def make_env(env_id: str) -> Any:
    return lambda: gym.wrappers.RecordEpisodeStatistics(gym.make(env_id))


def make_atari_env(env_id: str) -> Any:
    import ale_py

    gym.register_envs(ale_py)

    def thunk() -> Any:
        env = gym.make(env_id, frameskip=1)
        env = gym.wrappers.RecordEpisodeStatistics(env)
        env = gym.wrappers.AtariPreprocessing(env)
        env = gym.wrappers.ClipReward(env, -1, 1)
        return gym.wrappers.FrameStackObservation(env, 4)

    return thunk


class Agent(nn.Module):
    def __init__(self, envs: Any) -> None:
        super().__init__()
        n_obs = int(np.prod(envs.single_observation_space.shape))
        self.critic = nn.Sequential(
            layer_init(nn.Linear(n_obs, 64)),
            nn.Tanh(),
            layer_init(nn.Linear(64, 64)),
            nn.Tanh(),
            layer_init(nn.Linear(64, 1), std=1.0),
        )
        self.actor = nn.Sequential(
            layer_init(nn.Linear(n_obs, 64)),
            nn.Tanh(),
            layer_init(nn.Linear(64, 64)),
            nn.Tanh(),
            layer_init(nn.Linear(64, envs.single_action_space.n), std=0.01),
        )

    def get_value(self, x: Any) -> Any:
        return self.critic(x)

    def get_action_and_value(self, x: Any, action: Any = None) -> Any:
        probs = Categorical(logits=self.actor(x))
        if action is None:
            action = probs.sample()
        return action, probs.log_prob(action), probs.entropy(), self.critic(x)


class ImageAgent(nn.Module):
    def __init__(self, envs: Any) -> None:
        super().__init__()
        self.network = nn.Sequential(
            layer_init(nn.Conv2d(4, 32, 8, stride=4)),
            nn.ReLU(),
            layer_init(nn.Conv2d(32, 64, 4, stride=2)),
            nn.ReLU(),
            layer_init(nn.Conv2d(64, 64, 3, stride=1)),
            nn.ReLU(),
            nn.Flatten(),
            layer_init(nn.Linear(64 * 7 * 7, 512)),
            nn.ReLU(),
        )
        self.actor = layer_init(nn.Linear(512, envs.single_action_space.n), std=0.01)
        self.critic = layer_init(nn.Linear(512, 1), std=1)

    def get_value(self, x: Any) -> Any:
        return self.critic(self.network(x / 255.0))

    def get_action_and_value(self, x: Any, action: Any = None) -> Any:
        hidden = self.network(x / 255.0)
        probs = Categorical(logits=self.actor(hidden))
        if action is None:
            action = probs.sample()
        return action, probs.log_prob(action), probs.entropy(), self.critic(hidden)


def ppo(
    envs: Any,
    total_timesteps: int,
    *,
    num_steps: int = 128,
    update_epochs: int = 4,
    minibatch_size: int = 128,
    agent_class: Any = Agent,
    device: str = "cpu",
    seed: int = 1,
) -> None:
    gamma, gae_lambda, clip_coef, ent_coef, vf_coef, max_grad_norm = 0.99, 0.95, 0.2, 0.01, 0.5, 0.5
    torch.manual_seed(seed)
    writer, global_step, start = SummaryWriter(tempfile.mkdtemp()), 0, time.time()
    num_envs = envs.num_envs
    batch_size = num_envs * num_steps
    agent = agent_class(envs).to(device)
    optimizer = optim.Adam(agent.parameters(), lr=2.5e-4, eps=1e-5)

    obs = torch.zeros((num_steps, num_envs, *envs.single_observation_space.shape)).to(device)
    actions = torch.zeros((num_steps, num_envs)).to(device)
    logprobs = torch.zeros((num_steps, num_envs)).to(device)
    rewards = torch.zeros((num_steps, num_envs)).to(device)
    dones = torch.zeros((num_steps, num_envs)).to(device)
    values = torch.zeros((num_steps, num_envs)).to(device)
    next_obs, _ = envs.reset(seed=seed)
    next_obs = torch.Tensor(next_obs).to(device)
    next_done = torch.zeros(num_envs).to(device)

    for _iteration in range(total_timesteps // batch_size):
        for step in range(num_steps):
            obs[step] = next_obs
            dones[step] = next_done
            with torch.no_grad():
                action, logprob, _, value = agent.get_action_and_value(next_obs)
                values[step] = value.flatten()
            actions[step] = action
            logprobs[step] = logprob
            next_obs_np, reward, terminations, truncations, infos = envs.step(action.cpu().numpy())
            global_step += num_envs
            log_episodes(writer, infos, global_step)
            rewards[step] = torch.tensor(reward).to(device).view(-1)
            next_obs = torch.Tensor(next_obs_np).to(device)
            next_done = torch.Tensor(np.logical_or(terminations, truncations)).to(device)

        with torch.no_grad():
            next_value = agent.get_value(next_obs).reshape(1, -1)
            advantages = torch.zeros_like(rewards).to(device)
            lastgaelam = 0
            for t in reversed(range(num_steps)):
                if t == num_steps - 1:
                    nextnonterminal = 1.0 - next_done
                    nextvalues = next_value
                else:
                    nextnonterminal = 1.0 - dones[t + 1]
                    nextvalues = values[t + 1]
                delta = rewards[t] + gamma * nextvalues * nextnonterminal - values[t]
                advantages[t] = lastgaelam = delta + gamma * gae_lambda * nextnonterminal * lastgaelam
            returns = advantages + values

        b_obs = obs.reshape((-1, *envs.single_observation_space.shape))
        b_logprobs = logprobs.reshape(-1)
        b_actions = actions.reshape(-1)
        b_advantages = advantages.reshape(-1)
        b_returns = returns.reshape(-1)
        b_inds = np.arange(batch_size)
        clipfracs = []
        for _epoch in range(update_epochs):
            np.random.shuffle(b_inds)
            for start in range(0, batch_size, minibatch_size):
                mb_inds = b_inds[start : start + minibatch_size]
                _, newlogprob, entropy, newvalue = agent.get_action_and_value(b_obs[mb_inds], b_actions.long()[mb_inds])
                logratio = newlogprob - b_logprobs[mb_inds]
                ratio = logratio.exp()
                with torch.no_grad():
                    old_approx_kl = (-logratio).mean()
                    approx_kl = ((ratio - 1) - logratio).mean()
                    clipfracs.append(((ratio - 1.0).abs() > clip_coef).float().mean().item())
                mb_advantages = b_advantages[mb_inds]
                mb_advantages = (mb_advantages - mb_advantages.mean()) / (mb_advantages.std() + 1e-8)
                pg_loss1 = -mb_advantages * ratio
                pg_loss2 = -mb_advantages * torch.clamp(ratio, 1 - clip_coef, 1 + clip_coef)
                pg_loss = torch.max(pg_loss1, pg_loss2).mean()
                v_loss = 0.5 * ((newvalue.view(-1) - b_returns[mb_inds]) ** 2).mean()
                loss = pg_loss - ent_coef * entropy.mean() + v_loss * vf_coef
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), max_grad_norm)
                optimizer.step()
        y_pred, y_true = values.reshape(-1).cpu().numpy(), b_returns.cpu().numpy()
        var_y = np.var(y_true)
        writer.add_scalar("charts/learning_rate", optimizer.param_groups[0]["lr"], global_step)
        writer.add_scalar("losses/value_loss", v_loss.item(), global_step)
        writer.add_scalar("losses/policy_loss", pg_loss.item(), global_step)
        writer.add_scalar("losses/entropy", entropy.mean().item(), global_step)
        writer.add_scalar("losses/old_approx_kl", old_approx_kl.item(), global_step)
        writer.add_scalar("losses/approx_kl", approx_kl.item(), global_step)
        writer.add_scalar("losses/clipfrac", np.mean(clipfracs), global_step)
        writer.add_scalar("losses/explained_variance", 1 - np.var(y_true - y_pred) / (var_y + 1e-8), global_step)
        writer.add_scalar("charts/SPS", int(global_step / (time.time() - start)), global_step)
    writer.close()


def a2c(envs: Any, total_timesteps: int, *, num_steps: int = 5, seed: int = 1) -> None:
    gamma, vf_coef, max_grad_norm = 0.99, 0.5, 0.5
    torch.manual_seed(seed)
    agent = Agent(envs)
    optimizer = optim.RMSprop(agent.parameters(), lr=7e-4, eps=1e-5, alpha=0.99)
    next_obs, _ = envs.reset(seed=seed)
    next_obs = torch.Tensor(next_obs)
    for _update in range(total_timesteps // (num_steps * envs.num_envs)):
        obs, actions, rewards, dones = [], [], [], []
        for _step in range(num_steps):
            with torch.no_grad():
                action, _, _, _ = agent.get_action_and_value(next_obs)
            obs.append(next_obs)
            actions.append(action)
            next_obs_np, reward, terminations, truncations, _ = envs.step(action.numpy())
            next_obs = torch.Tensor(next_obs_np)
            rewards.append(torch.Tensor(reward))
            dones.append(torch.Tensor(np.logical_or(terminations, truncations)))
        with torch.no_grad():
            running = agent.get_value(next_obs).view(-1)
        returns = []
        for reward, done in zip(reversed(rewards), reversed(dones), strict=True):
            running = reward + gamma * running * (1 - done)
            returns.insert(0, running)
        b_returns = torch.cat(returns)
        _, logprob, _, value = agent.get_action_and_value(torch.cat(obs), torch.cat(actions))
        advantage = b_returns - value.view(-1)
        loss = -(logprob * advantage.detach()).mean() + vf_coef * advantage.pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(agent.parameters(), max_grad_norm)
        optimizer.step()


class QNetwork(nn.Module):
    def __init__(self, envs: Any) -> None:
        super().__init__()
        self.network = nn.Sequential(
            nn.Linear(int(np.prod(envs.single_observation_space.shape)), 64),
            nn.ReLU(),
            nn.Linear(64, 64),
            nn.ReLU(),
            nn.Linear(64, envs.single_action_space.n),
        )

    def forward(self, x: Any) -> Any:
        return self.network(x)


class ImageQNetwork(nn.Module):
    def __init__(self, envs: Any) -> None:
        super().__init__()
        self.network = nn.Sequential(
            nn.Conv2d(4, 32, 8, stride=4),
            nn.ReLU(),
            nn.Conv2d(32, 64, 4, stride=2),
            nn.ReLU(),
            nn.Conv2d(64, 64, 3, stride=1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(3136, 512),
            nn.ReLU(),
            nn.Linear(512, envs.single_action_space.n),
        )

    def forward(self, x: Any) -> Any:
        return self.network(x / 255.0)


def dqn(
    envs: Any,
    total_timesteps: int,
    *,
    network: Any = QNetwork,
    buffer_size: int = 50_000,
    learning_starts: int = 100,
    train_frequency: int = 4,
    batch_size: int = 32,
    target_network_frequency: int = 10_000,
    device: str = "cpu",
    seed: int = 1,
) -> None:
    from stable_baselines3.common.buffers import ReplayBuffer

    gamma, exploration_fraction = 0.99, 0.1
    torch.manual_seed(seed)
    rng = np.random.RandomState(seed)
    q_network = network(envs).to(device)
    optimizer = optim.Adam(q_network.parameters(), lr=1e-4)
    target_network = network(envs).to(device)
    target_network.load_state_dict(q_network.state_dict())
    rb = ReplayBuffer(
        buffer_size,
        envs.single_observation_space,
        envs.single_action_space,
        device,
        handle_timeout_termination=False,
    )
    writer, start = SummaryWriter(tempfile.mkdtemp()), time.time()
    obs, _ = envs.reset(seed=seed)
    for global_step in range(total_timesteps):
        epsilon = max(0.05, 1 - 0.95 * global_step / (exploration_fraction * total_timesteps))
        if rng.rand() < epsilon:
            actions = np.array([envs.single_action_space.sample() for _ in range(envs.num_envs)])
        else:
            q_values = q_network(torch.Tensor(obs).to(device))
            actions = torch.argmax(q_values, dim=1).cpu().numpy()
        next_obs, rewards, terminations, truncations, infos = envs.step(actions)
        log_episodes(writer, infos, global_step)
        real_next_obs = next_obs.copy()
        for idx, trunc in enumerate(truncations):
            if trunc and "final_obs" in infos:
                real_next_obs[idx] = infos["final_obs"][idx]
        rb.add(obs, real_next_obs, actions, rewards, terminations, [{}])
        obs = next_obs
        if global_step > learning_starts and global_step % train_frequency == 0:
            data = rb.sample(batch_size)
            with torch.no_grad():
                target_max, _ = target_network(data.next_observations).max(dim=1)
                td_target = data.rewards.flatten() + gamma * target_max * (1 - data.dones.flatten())
            old_val = q_network(data.observations).gather(1, data.actions).squeeze()
            loss = nn.functional.mse_loss(td_target, old_val)
            if global_step % 100 == 0:
                writer.add_scalar("losses/td_loss", loss, global_step)
                writer.add_scalar("losses/q_values", old_val.mean().item(), global_step)
                writer.add_scalar("charts/SPS", int(global_step / (time.time() - start)), global_step)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if global_step % target_network_frequency == 0:
                for target_param, q_param in zip(target_network.parameters(), q_network.parameters(), strict=True):
                    target_param.data.copy_(q_param.data)
    writer.close()
