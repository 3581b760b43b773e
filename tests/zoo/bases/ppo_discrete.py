"""PPO for discrete actions on a vector of environments: CartPole-v1, Acrobot-v1.

The environments reset in the same step in which an episode ends (SAME_STEP): `obs` after such a step already belongs
to the next episode, and the last observation of the old one is found in `info["final_obs"]`.
"""

import gymnasium as gym
import numpy as np
import torch
from gymnasium.vector import AutoresetMode
from torch import nn
from torch.distributions import Categorical

NUM_ENVS = 4
NUM_STEPS = 64
NUM_EPOCHS = 4
MINIBATCH = 64
GAMMA = 0.99
LAM = 0.95
CLIP = 0.2
VF_COEF = 0.5
ENT_COEF = 0.01
MAX_GRAD_NORM = 0.5
LR = 1e-3


def layer(n_in, n_out, gain=2**0.5):
    linear = nn.Linear(n_in, n_out)
    nn.init.orthogonal_(linear.weight, gain)
    nn.init.zeros_(linear.bias)
    return linear


def make_networks(n_obs, n_actions):
    policy = nn.Sequential(layer(n_obs, 64), nn.Tanh(), layer(64, 64), nn.Tanh(), layer(64, n_actions, gain=0.01))
    critic = nn.Sequential(layer(n_obs, 64), nn.Tanh(), layer(64, 64), nn.Tanh(), layer(64, 1, gain=1.0))
    return policy, critic


def compute_gae(rewards, values, dones, last_value):
    advantages = torch.zeros_like(rewards)
    next_value = last_value
    gae = torch.zeros_like(last_value)
    for t in reversed(range(len(rewards))):
        not_done = 1.0 - dones[t]
        delta = rewards[t] + GAMMA * next_value * not_done - values[t]
        gae = delta + GAMMA * LAM * not_done * gae
        advantages[t] = gae
        next_value = values[t]
    return advantages


def train(watch, seed=0, env_id="CartPole-v1", updates=64):
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    same_step = {"autoreset_mode": AutoresetMode.SAME_STEP}
    envs = gym.make_vec(env_id, num_envs=NUM_ENVS, vectorization_mode="sync", vector_kwargs=same_step)
    n_obs = envs.single_observation_space.shape[0]
    n_actions = int(envs.single_action_space.n)
    policy, critic = make_networks(n_obs, n_actions)
    parameters = [*policy.parameters(), *critic.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=LR, eps=1e-5)

    obs_buf = torch.zeros(NUM_STEPS, NUM_ENVS, n_obs)
    action_buf = torch.zeros(NUM_STEPS, NUM_ENVS, dtype=torch.long)
    logp_buf = torch.zeros(NUM_STEPS, NUM_ENVS)
    value_buf = torch.zeros(NUM_STEPS, NUM_ENVS)
    reward_buf = torch.zeros(NUM_STEPS, NUM_ENVS)
    bootstrap_buf = torch.zeros(NUM_STEPS, NUM_ENVS)  # V(final obs) where an episode was truncated, else 0
    terminated_buf = torch.zeros(NUM_STEPS, NUM_ENVS, dtype=torch.bool)
    truncated_buf = torch.zeros(NUM_STEPS, NUM_ENVS, dtype=torch.bool)

    returns = []
    running_return = np.zeros(NUM_ENVS)
    with watch(policy=policy, critic=critic, optimizer=optimizer, env=envs, gamma=GAMMA) as dbg:
        obs, _ = envs.reset(seed=seed)
        for _update in range(updates):
            bootstrap_buf.zero_()
            for t in range(NUM_STEPS):
                obs_buf[t] = torch.as_tensor(obs, dtype=torch.float32)
                with torch.no_grad():
                    dist = Categorical(logits=policy(obs_buf[t]))
                    action = dist.sample()
                    logp_buf[t] = dist.log_prob(action)
                    value_buf[t] = critic(obs_buf[t]).squeeze(-1)
                obs, reward, terminated, truncated, info = envs.step(action.numpy())
                action_buf[t] = action
                reward_buf[t] = torch.as_tensor(reward, dtype=torch.float32)
                terminated_buf[t] = torch.as_tensor(terminated)
                truncated_buf[t] = torch.as_tensor(truncated)

                for i in np.flatnonzero(truncated & ~terminated):
                    final_obs = torch.as_tensor(info["final_obs"][i], dtype=torch.float32)
                    with torch.no_grad():
                        bootstrap_buf[t, i] = critic(final_obs).squeeze(-1)

                running_return += reward
                for i in np.flatnonzero(terminated | truncated):
                    returns.append(float(running_return[i]))
                    running_return[i] = 0.0

            with torch.no_grad():
                last_value = critic(torch.as_tensor(obs, dtype=torch.float32)).squeeze(-1)
            done_buf = (terminated_buf | truncated_buf).float()
            target_reward = reward_buf + GAMMA * bootstrap_buf
            advantage_buf = compute_gae(target_reward, value_buf, done_buf, last_value)
            return_buf = advantage_buf + value_buf
            ends = {"terminated": terminated_buf, "truncated": truncated_buf}
            dbg.rollout(obs=obs_buf, action=action_buf, reward=reward_buf, value=value_buf, logp=logp_buf, **ends)

            flat_obs = obs_buf.reshape(-1, n_obs)
            flat_action = action_buf.reshape(-1)
            flat_logp = logp_buf.reshape(-1)
            flat_advantage = advantage_buf.reshape(-1)
            flat_return = return_buf.reshape(-1)
            for _epoch in range(NUM_EPOCHS):
                order = torch.as_tensor(rng.permutation(NUM_STEPS * NUM_ENVS))
                for idx in order.split(MINIBATCH):
                    dist = Categorical(logits=policy(flat_obs[idx]))
                    logp = dist.log_prob(flat_action[idx])
                    logp_old = flat_logp[idx]
                    advantage = flat_advantage[idx]
                    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)

                    ratio = torch.exp(logp - logp_old)
                    clipped_ratio = torch.clamp(ratio, 1 - CLIP, 1 + CLIP)
                    policy_loss = -torch.min(ratio * advantage, clipped_ratio * advantage).mean()
                    value = critic(flat_obs[idx]).squeeze(-1)
                    target = flat_return[idx]
                    value_loss = 0.5 * (value - target).pow(2).mean()
                    entropy_loss = -dist.entropy().mean()
                    loss = policy_loss + VF_COEF * value_loss + ENT_COEF * entropy_loss

                    dbg.update(
                        loss={"policy": policy_loss, "value": value_loss, "entropy": entropy_loss},
                        logp_old=logp_old,
                        logp_new=logp,
                        value=value,
                        target=target,
                        advantage=advantage,
                        dist=dist,
                        clip=CLIP,
                    )
                    optimizer.zero_grad()
                    loss.backward()
                    nn.utils.clip_grad_norm_(parameters, MAX_GRAD_NORM)
                    optimizer.step()
    envs.close()
    return {"returns": returns, "policy": policy, "critic": critic, "steps": updates * NUM_STEPS * NUM_ENVS}


if __name__ == "__main__":
    import rldebug

    print(np.mean(train(rldebug.watch)["returns"][-20:]))
