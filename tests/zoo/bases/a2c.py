"""Advantage actor-critic with n-step returns and two optimizers: CartPole-v1, Acrobot-v1.

Gymnasium's default autoreset (NEXT_STEP): the observation returned with an end is the true last one, and the step
after it only resets: its action is ignored and its reward is 0. Such rows are masked out of both losses.
"""

import itertools

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

N_ENVS, N_STEPS, GAMMA = 8, 8, 0.95
ACTOR_LR, CRITIC_LR = 1e-3, 3e-3
BETA = 0.01  # weight of the entropy bonus


def mlp(sizes):
    layers = []
    for a, b in itertools.pairwise(sizes):
        layers += [nn.Linear(a, b), nn.Tanh()]
    return nn.Sequential(*layers[:-1])


def act(actor, obs):
    with torch.no_grad():
        logits = actor(obs)
        probs = torch.softmax(logits, dim=-1)
        action = torch.multinomial(probs, num_samples=1).squeeze(-1)
        logp = F.log_softmax(logits, dim=-1).gather(-1, action.unsqueeze(-1)).squeeze(-1)
    return action, logp


def n_step_targets(rewards, terminated, truncated, values):
    """values has one row more than rewards; values[t + 1] is V of the true successor of row t (see above)."""
    targets = torch.zeros_like(rewards)
    ret = values[-1]
    for t in range(rewards.shape[0] - 1, -1, -1):
        ret = torch.where(truncated[t], values[t + 1], ret)
        ret = rewards[t] + GAMMA * ret * (~terminated[t])
        targets[t] = ret
    return targets


def train(watch, seed=0, env_id="CartPole-v1", updates=700):
    torch.manual_seed(seed)
    envs = gym.vector.SyncVectorEnv([lambda: gym.make(env_id) for _ in range(N_ENVS)])
    obs_size, n_actions = envs.single_observation_space.shape[0], int(envs.single_action_space.n)
    actor = mlp([obs_size, 64, 64, n_actions])
    critic = mlp([obs_size, 64, 64, 1])
    actor_opt = torch.optim.RMSprop(actor.parameters(), lr=ACTOR_LR, alpha=0.99, eps=1e-5)
    critic_opt = torch.optim.RMSprop(critic.parameters(), lr=CRITIC_LR, alpha=0.99, eps=1e-5)

    finished, score = [], np.zeros(N_ENVS)
    with watch(policy=actor, critic=critic, optimizer=[actor_opt, critic_opt], env=envs, gamma=GAMMA) as dbg:
        obs = torch.from_numpy(envs.reset(seed=seed)[0])
        ended = np.zeros(N_ENVS, dtype=bool)
        for _ in range(updates):
            rows = {k: [] for k in ("obs", "action", "logp", "reward", "terminated", "truncated", "valid")}
            for _ in range(N_STEPS):
                action, logp = act(actor, obs)
                next_obs, reward, terminated, truncated, _ = envs.step(action.numpy())
                rows["obs"].append(obs)
                rows["action"].append(action)
                rows["logp"].append(logp)
                rows["reward"].append(torch.from_numpy(reward).float())
                rows["terminated"].append(torch.from_numpy(terminated))
                rows["truncated"].append(torch.from_numpy(truncated & ~terminated))
                rows["valid"].append(torch.from_numpy(~ended))
                score += reward
                ended = terminated | truncated
                finished += score[ended].tolist()
                score[ended] = 0.0
                obs = torch.from_numpy(next_obs)

            batch = {k: torch.stack(v) for k, v in rows.items()}
            all_obs = torch.cat([batch["obs"], obs.unsqueeze(0)])
            values = critic(all_obs).squeeze(-1)
            bootstrap = values.detach()
            targets = n_step_targets(batch["reward"], batch["terminated"], batch["truncated"], bootstrap)
            dbg.rollout(
                obs=batch["obs"],
                action=batch["action"],
                reward=batch["reward"],
                terminated=batch["terminated"],
                truncated=batch["truncated"],
                value=bootstrap[:-1],
                logp=batch["logp"],
            )

            valid = batch["valid"]
            value, target = values[:-1][valid], targets[valid]
            advantage = target - value.detach()
            pi = torch.distributions.Categorical(logits=actor(batch["obs"][valid]))
            logp_new = pi.log_prob(batch["action"][valid])
            actor_loss = -(logp_new * advantage).mean()
            bonus = -pi.entropy().mean()
            critic_loss = F.mse_loss(value, target)

            actor_opt.zero_grad()
            (actor_loss + BETA * bonus).backward()
            nn.utils.clip_grad_norm_(actor.parameters(), 0.5)
            critic_opt.zero_grad()
            critic_loss.backward()
            nn.utils.clip_grad_norm_(critic.parameters(), 5.0)
            dbg.update(
                loss={"policy": actor_loss, "value": critic_loss, "entropy": bonus},
                logp_old=batch["logp"][valid],
                logp_new=logp_new,
                value=value,
                target=target,
                advantage=advantage,
                dist=pi,
            )
            actor_opt.step()
            critic_opt.step()
    envs.close()
    return {"returns": finished, "policy": actor, "critic": critic, "steps": updates * N_STEPS * N_ENVS}


if __name__ == "__main__":
    import rldebug

    print(np.mean(train(rldebug.watch)["returns"][-20:]))
