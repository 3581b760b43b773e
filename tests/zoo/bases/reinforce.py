"""REINFORCE with rewards-to-go and a learned baseline; one policy step per episode. CartPole-v1."""

import gymnasium as gym
import torch
from torch import nn, optim
from torch.distributions import Categorical

gamma = 0.97
baseline_steps = 5


class Policy(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.hidden = nn.Linear(n_in, 128)
        self.out = nn.Linear(128, n_out)
        nn.init.zeros_(self.out.weight)  # start from the uniform policy
        nn.init.zeros_(self.out.bias)

    def forward(self, x):
        x = torch.tanh(self.hidden(x))
        return Categorical(logits=self.out(x))


class Baseline(nn.Module):
    def __init__(self, n_in):
        super().__init__()
        self.fc1 = nn.Linear(n_in, 128)
        self.fc2 = nn.Linear(128, 1)
        nn.init.zeros_(self.fc2.weight)
        nn.init.zeros_(self.fc2.bias)

    def forward(self, x):
        h = torch.relu(self.fc1(x))
        return self.fc2(h).squeeze(-1)


def run_episode(env, policy, seed=None):
    obs, _ = env.reset(seed=seed)
    states, actions, log_probs, rewards = [], [], [], []
    terminated = truncated = False
    while not (terminated or truncated):
        state = torch.tensor(obs, dtype=torch.float32)
        dist = policy(state)
        action = dist.sample()
        states.append(state)
        actions.append(action)
        log_probs.append(dist.log_prob(action))
        obs, reward, terminated, truncated, _ = env.step(action.item())
        rewards.append(float(reward))
    final_obs = torch.tensor(obs, dtype=torch.float32)
    return torch.stack(states), torch.stack(actions), torch.stack(log_probs), rewards, final_obs, terminated


def rewards_to_go(rewards, tail):
    out = []
    for r in reversed(rewards):
        tail = r + gamma * tail
        out.append(tail)
    out.reverse()
    return torch.tensor(out)


def train(watch, seed=0, env_id="CartPole-v1", updates=120):
    torch.manual_seed(seed)
    env = gym.make(env_id)
    n_in = env.observation_space.shape[0]
    policy = Policy(n_in, int(env.action_space.n))
    baseline = Baseline(n_in)
    policy_optim = optim.Adam(policy.parameters(), lr=2e-3)
    baseline_optim = optim.Adam(baseline.parameters(), lr=1e-2)
    optimizers = {"policy": policy_optim, "baseline": baseline_optim}
    episode_returns, steps = [], 0

    with watch(policy=policy, critic=baseline, optimizer=optimizers, env=env, gamma=gamma) as dbg:
        for episode in range(updates):
            env_seed = seed if episode == 0 else None
            states, actions, log_probs, rewards, final_obs, terminated = run_episode(env, policy, env_seed)
            episode_returns.append(sum(rewards))
            steps += len(rewards)

            # an episode that ran into the time limit goes on after it, as far as the return is concerned
            tail = 0.0 if terminated else baseline(final_obs).item()
            returns = rewards_to_go(rewards, tail)
            with torch.no_grad():
                values = baseline(states)
            advantages = returns - values

            ends = torch.zeros(len(rewards), dtype=torch.bool)
            ends[-1] = True
            dbg.rollout(
                obs=states,
                action=actions,
                reward=torch.tensor(rewards),
                terminated=ends & terminated,
                truncated=ends & (not terminated),
                value=values,
                logp=log_probs.detach(),
            )

            policy_loss = -(log_probs * advantages).mean()
            dbg.update(loss={"policy": policy_loss}, logp_new=log_probs, advantage=advantages, dist=policy(states))
            policy_optim.zero_grad()
            policy_loss.backward()
            policy_optim.step()

            for _ in range(baseline_steps):
                predicted = baseline(states)
                baseline_loss = (predicted - returns).square().mean()
                dbg.update(loss={"value": baseline_loss}, value=predicted, target=returns)
                baseline_optim.zero_grad()
                baseline_loss.backward()
                baseline_optim.step()
    env.close()
    return {"returns": episode_returns, "policy": policy, "critic": baseline, "steps": steps}


if __name__ == "__main__":
    import rldebug

    print(train(rldebug.watch)["returns"][-20:])
