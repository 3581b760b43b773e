"""TRPO on CartPole-v1: one policy step per batch, worked out from Fisher-vector products; a critic fitted beside it."""

import gymnasium as gym
import numpy as np
import torch
from gymnasium.vector import AutoresetMode
from torch import nn
from torch.distributions import Categorical, kl_divergence

GAMMA, LAM = 0.99, 0.97
MAX_KL, DAMPING, CG_ROUNDS, BACKTRACKS = 0.01, 0.1, 10, 10
ENVS, STEPS = 8, 128
CRITIC_EPOCHS, CRITIC_BATCH, CRITIC_LR = 5, 128, 3e-3


def mlp(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, n_out))


def flatten(tensors):
    return torch.cat([tensor.reshape(-1) for tensor in tensors])


def assign(params, vector):
    start = 0
    for param in params:
        param.data = vector[start : start + param.numel()].view_as(param).clone()
        start += param.numel()


def conjugate_gradients(hvp, b):
    x, r, p = torch.zeros_like(b), b.clone(), b.clone()
    rr = r @ r
    for _ in range(CG_ROUNDS):
        if rr < 1e-10:
            break
        hp = hvp(p)
        alpha = rr / (p @ hp)
        x += alpha * p
        r -= alpha * hp
        rr, rr_old = r @ r, rr
        p = r + rr / rr_old * p
    return x


def policy_step(policy, obs, action, advantage, dbg):
    params = list(policy.parameters())
    dist = Categorical(logits=policy(obs))
    old = Categorical(logits=dist.logits.detach())
    logp = dist.log_prob(action)
    logp_old = logp.detach()
    loss = -((logp - logp_old).exp() * advantage).mean()
    gradient = flatten(torch.autograd.grad(loss, params, retain_graph=True))
    kl_gradient = flatten(torch.autograd.grad(kl_divergence(old, dist).mean(), params, create_graph=True))

    def hvp(v):
        return flatten(torch.autograd.grad(kl_gradient @ v, params, retain_graph=True)) + DAMPING * v

    direction = conjugate_gradients(hvp, -gradient)
    full_step = direction * torch.sqrt(2 * MAX_KL / (direction @ hvp(direction) + 1e-12))
    start = flatten(params).detach()
    for k in range(BACKTRACKS):
        assign(params, start + 0.7**k * full_step)
        with torch.no_grad():
            new = Categorical(logits=policy(obs))
            kl = kl_divergence(old, new).mean()
            gain = ((new.log_prob(action) - logp_old).exp() * advantage).mean() + loss
        if gain > 0 and kl <= MAX_KL:
            break
    else:
        assign(params, start)
        kl = torch.zeros(())
    dbg.update(
        loss={"policy": loss},
        logp_old=logp_old,
        logp_new=logp,
        advantage=advantage,
        dist=dist,
        kl=kl,
        kl_limit=MAX_KL,
    )


def train(watch, seed=0, env_id="CartPole-v1", updates=20):
    torch.manual_seed(seed)
    same_step = {"autoreset_mode": AutoresetMode.SAME_STEP}
    envs = gym.make_vec(env_id, num_envs=ENVS, vectorization_mode="sync", vector_kwargs=same_step)
    n_obs = envs.single_observation_space.shape[0]
    policy, critic = mlp(n_obs, int(envs.single_action_space.n)), mlp(n_obs, 1)
    with torch.no_grad():
        policy[-1].weight *= 0.1
    critic_optimizer = torch.optim.Adam(critic.parameters(), lr=CRITIC_LR)
    returns, running = [], np.zeros(ENVS)
    with watch(policy=policy, critic=critic, optimizer=critic_optimizer, env=envs, gamma=GAMMA) as dbg:
        obs, _ = envs.reset(seed=seed)
        for _ in range(updates):
            rows = {name: [] for name in ("obs", "action", "reward", "next_obs", "terminated", "truncated")}
            for _ in range(STEPS):
                with torch.no_grad():
                    action = Categorical(logits=policy(torch.as_tensor(obs))).sample().numpy()
                next_obs, reward, terminated, truncated, info = envs.step(action)
                followed = next_obs.copy()
                running += reward
                for i in np.flatnonzero(terminated | truncated):
                    followed[i] = info["final_obs"][i]
                    returns.append(float(running[i]))
                    running[i] = 0.0
                for name, entry in zip(rows, (obs, action, reward, followed, terminated, truncated), strict=True):
                    rows[name].append(entry)
                obs = next_obs
            batch = {name: torch.as_tensor(np.stack(entries)) for name, entries in rows.items()}
            reward, terminated, truncated = batch["reward"].float(), batch["terminated"], batch["truncated"]

            with torch.no_grad():
                value, next_value = critic(batch["obs"]).squeeze(-1), critic(batch["next_obs"]).squeeze(-1)
                logp = Categorical(logits=policy(batch["obs"])).log_prob(batch["action"])
            delta = reward + GAMMA * next_value * ~terminated - value
            advantage, ahead = torch.zeros(STEPS, ENVS), torch.zeros(ENVS)
            for t in reversed(range(STEPS)):
                ahead = delta[t] + GAMMA * LAM * ahead * ~(terminated[t] | truncated[t])
                advantage[t] = ahead
            acted = {name: batch[name] for name in ("obs", "action", "terminated", "truncated")}
            dbg.rollout(**acted, reward=reward, value=value, logp=logp)

            states, target = batch["obs"].flatten(0, 1), (advantage + value).flatten()
            scaled = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
            policy_step(policy, states, batch["action"].flatten(), scaled.flatten(), dbg)
            for _ in range(CRITIC_EPOCHS):
                for idx in torch.randperm(len(target)).split(CRITIC_BATCH):
                    predicted = critic(states[idx]).squeeze(-1)
                    value_loss = (predicted - target[idx]).square().mean()
                    dbg.update(loss={"value": value_loss}, value=predicted, target=target[idx])
                    critic_optimizer.zero_grad()
                    value_loss.backward()
                    critic_optimizer.step()
    envs.close()
    return {"returns": returns, "policy": policy, "critic": critic, "steps": updates * STEPS * ENVS}


if __name__ == "__main__":
    import rldebug

    print(np.mean(train(rldebug.watch)["returns"][-20:]))
