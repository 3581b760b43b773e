"""PPO in one file, in the way of CleanRL: flags for everything, tensors filled step by step, b_, mb_, TensorBoard."""

import argparse
import random
import time

import gymnasium as gym
import numpy as np
import torch
from torch import nn, optim
from torch.distributions.categorical import Categorical
from torch.utils.tensorboard import SummaryWriter

parser = argparse.ArgumentParser()
for name, value in {
    "env-id": "CartPole-v1", "seed": 1, "total-timesteps": 6144, "learning-rate": 1e-3, "num-envs": 4, "num-steps": 128,
    "gamma": 0.99, "gae-lambda": 0.95, "num-minibatches": 4, "update-epochs": 4, "clip-coef": 0.2, "ent-coef": 0.01,
    "vf-coef": 0.5, "max-grad-norm": 0.5,
}.items():  # fmt: skip
    parser.add_argument(f"--{name}", type=type(value), default=value)


def make_env(env_id):
    return lambda: gym.wrappers.RecordEpisodeStatistics(gym.make(env_id))


def layer_init(layer, std=2**0.5):
    nn.init.orthogonal_(layer.weight, std)
    nn.init.constant_(layer.bias, 0.0)
    return layer


class Agent(nn.Module):
    def __init__(self, envs):
        super().__init__()
        size, actions = int(np.prod(envs.single_observation_space.shape)), int(envs.single_action_space.n)
        self.critic = nn.Sequential(layer_init(nn.Linear(size, 64)), nn.Tanh(), layer_init(nn.Linear(64, 1), 1.0))
        self.actor = nn.Sequential(layer_init(nn.Linear(size, 64)), nn.Tanh(), layer_init(nn.Linear(64, actions), 0.01))

    def get_value(self, x):
        return self.critic(x)

    def get_action_and_value(self, x, action=None):
        probs = Categorical(logits=self.actor(x))
        action = probs.sample() if action is None else action
        return action, probs.log_prob(action), probs.entropy(), self.critic(x)


if __name__ == "__main__":
    args = parser.parse_args()
    batch_size = args.num_envs * args.num_steps
    minibatch_size = batch_size // args.num_minibatches
    writer = SummaryWriter(f"runs/{args.env_id}__ppo__{args.seed}__{int(time.time())}")
    writer.add_text(
        "hyperparameters", "|param|value|\n|-|-|\n" + "\n".join(f"|{k}|{v}|" for k, v in vars(args).items())
    )
    random.seed(args.seed)
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)

    envs = gym.vector.SyncVectorEnv(
        [make_env(args.env_id) for _ in range(args.num_envs)], autoreset_mode=gym.vector.AutoresetMode.SAME_STEP
    )
    agent = Agent(envs)
    optimizer = optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    obs = torch.zeros((args.num_steps, args.num_envs, *envs.single_observation_space.shape))
    actions, logprobs, rewards, dones, values = (torch.zeros((args.num_steps, args.num_envs)) for _ in range(5))
    global_step, start_time = 0, time.time()
    next_obs = torch.Tensor(envs.reset(seed=args.seed)[0])
    next_done = torch.zeros(args.num_envs)

    for _ in range(args.total_timesteps // batch_size):
        for step in range(args.num_steps):
            global_step += args.num_envs
            obs[step], dones[step] = next_obs, next_done
            with torch.no_grad():
                action, logprob, _, value = agent.get_action_and_value(next_obs)
            values[step], actions[step], logprobs[step] = value.flatten(), action, logprob
            observed, reward, terminations, truncations, infos = envs.step(action.numpy())
            rewards[step] = torch.tensor(reward).view(-1)
            next_obs = torch.Tensor(observed)
            next_done = torch.Tensor(np.logical_or(terminations, truncations))
            for ended in np.flatnonzero(infos.get("_final_info", ())):
                told = infos["final_info"]["episode"]
                writer.add_scalar("charts/episodic_return", told["r"][ended], global_step)
                writer.add_scalar("charts/episodic_length", told["l"][ended], global_step)

        with torch.no_grad():
            next_value = agent.get_value(next_obs).reshape(1, -1)
            advantages, lastgaelam = torch.zeros_like(rewards), 0
            for t in reversed(range(args.num_steps)):
                last = t == args.num_steps - 1
                nextnonterminal = 1.0 - (next_done if last else dones[t + 1])
                nextvalues = next_value if last else values[t + 1]
                delta = rewards[t] + args.gamma * nextvalues * nextnonterminal - values[t]
                lastgaelam = delta + args.gamma * args.gae_lambda * nextnonterminal * lastgaelam
                advantages[t] = lastgaelam
            returns = advantages + values

        b_obs = obs.reshape((-1, *envs.single_observation_space.shape))
        b_logprobs, b_actions, b_values = logprobs.reshape(-1), actions.reshape(-1), values.reshape(-1)
        b_advantages, b_returns = advantages.reshape(-1), returns.reshape(-1)
        b_inds = np.arange(batch_size)
        for _ in range(args.update_epochs):
            np.random.shuffle(b_inds)
            for start in range(0, batch_size, minibatch_size):
                mb_inds = b_inds[start : start + minibatch_size]
                _, newlogprob, entropy, newvalue = agent.get_action_and_value(b_obs[mb_inds], b_actions.long()[mb_inds])
                logratio = newlogprob - b_logprobs[mb_inds]
                ratio = logratio.exp()
                approx_kl = ((ratio - 1) - logratio).mean().item()
                mb_advantages = b_advantages[mb_inds]
                mb_advantages = (mb_advantages - mb_advantages.mean()) / (mb_advantages.std() + 1e-8)
                pg_loss1 = -mb_advantages * ratio
                pg_loss2 = -mb_advantages * torch.clamp(ratio, 1 - args.clip_coef, 1 + args.clip_coef)
                pg_loss = torch.max(pg_loss1, pg_loss2).mean()
                v_loss = 0.5 * ((newvalue.view(-1) - b_returns[mb_inds]) ** 2).mean()
                loss = pg_loss - args.ent_coef * entropy.mean() + v_loss * args.vf_coef
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
                optimizer.step()

        explained = 1 - torch.var(b_returns - b_values) / torch.var(b_returns)
        for tag, number in {
            "charts/learning_rate": optimizer.param_groups[0]["lr"], "losses/value_loss": v_loss.item(),
            "losses/policy_loss": pg_loss.item(), "losses/entropy": entropy.mean().item(),
            "losses/approx_kl": approx_kl, "losses/explained_variance": explained.item(),
            "charts/SPS": int(global_step / (time.time() - start_time)),
        }.items():  # fmt: skip
            writer.add_scalar(tag, number, global_step)
    envs.close()
    writer.close()
