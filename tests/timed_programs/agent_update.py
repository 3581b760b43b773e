"""PPO whose agent has select_action() and update(), and a memory of lists; it evaluates and saves itself."""

import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass, field

import gymnasium as gym
import torch
import torch.nn as nn
from gymnasium.envs.classic_control import MountainCarEnv
from torch.distributions import Categorical


@dataclass
class Account:
    costs: dict = field(default_factory=dict)
    parts: dict = field(default_factory=dict)
    calls: dict = field(default_factory=dict)
    seconds: float = 0.0
    stack: list = field(default_factory=lambda: ["other"])
    checked: float = 0.0

    def check(self):
        now = time.perf_counter()
        self.parts[self.stack[-1]] = self.parts.get(self.stack[-1], 0) + now - self.checked
        self.checked = now


account = Account()


def push(label):
    account.check()
    account.stack.append("evaluation" if "evaluation" in account.stack else label)


def pop():
    account.check()
    account.stack.pop()


def hamper(label):
    account.calls[label] = account.calls.get(label, 0) + 1
    value = os.environ.get("COST_" + label.upper().replace(" ", "_"))
    if not value:
        return
    wanted, t = float(value) / 1000, time.perf_counter()
    kind = os.environ.get("COST_KIND", "burn")
    if kind == "burn":
        while time.perf_counter() - t < wanted:
            pass
    elif kind == "sleep":
        time.sleep(wanted)
    else:
        n = 600 if wanted > 0.01 else 60
        m = torch.ones(n, n)
        while time.perf_counter() - t < wanted:
            torch.matmul(m, m)
    account.costs[label] = account.costs.get(label, 0) + time.perf_counter() - t


class Valley(MountainCarEnv):
    def step(self, action):
        push("simulator")
        hamper("simulator")
        result = super().step(action)
        pop()
        return result

    def reset(self, **kwargs):
        push("reset")
        hamper("reset")
        result = super().reset(**kwargs)
        pop()
        return result


class Memory:
    def __init__(self):
        self.actions, self.states, self.logprobs, self.rewards, self.is_terminals = [], [], [], [], []

    def keep(self, reward, done):
        hamper("buffer write")
        self.rewards.append(reward)
        self.is_terminals.append(done)

    def stacked(self):
        hamper("buffer sample")
        return [torch.stack(each).detach() for each in (self.states, self.actions, self.logprobs)]

    def clear_memory(self):
        for each in (self.actions, self.states, self.logprobs, self.rewards, self.is_terminals):
            del each[:]


class Viscous(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        hamper("backward")
        return g


class Stiff(torch.optim.Adam):
    def step(self, closure=None):
        hamper("optimizer")
        return super().step(closure)


class ActorCritic(nn.Module):
    def __init__(self, state_dim, action_dim):
        super().__init__()
        self.action_layer = nn.Sequential(
            nn.Linear(state_dim, 64), nn.Tanh(), nn.Linear(64, action_dim), nn.Softmax(dim=-1)
        )
        self.value_layer = nn.Sequential(nn.Linear(state_dim, 64), nn.Tanh(), nn.Linear(64, 1))

    def act(self, state, memory):
        push("copies")
        state = torch.from_numpy(state).float()
        pop()
        push("acting")
        hamper("acting")
        dist = Categorical(self.action_layer(state))
        action = dist.sample()
        logprob = dist.log_prob(action)
        pop()
        if memory is not None:
            push("buffer write")
            memory.states.append(state)
            memory.actions.append(action)
            memory.logprobs.append(logprob)
            pop()
        push("copies")
        action = action.item()
        pop()
        return action

    def evaluate(self, state, action):
        hamper("loss")
        dist = Categorical(self.action_layer(state))
        return dist.log_prob(action), torch.squeeze(self.value_layer(state)), dist.entropy()


class PPO:
    def __init__(self, state_dim, action_dim):
        self.policy = ActorCritic(state_dim, action_dim)
        self.policy_old = ActorCritic(state_dim, action_dim)
        self.policy_old.load_state_dict(self.policy.state_dict())
        self.optimizer = Stiff(self.policy.parameters(), lr=2e-3)
        self.MseLoss = nn.MSELoss()

    def update(self, memory):
        push("advantages")
        rewards = self.monte_carlo(memory)
        pop()
        push("buffer sample")
        old_states, old_actions, old_logprobs = memory.stacked()
        pop()
        for _ in range(8):
            push("loss")
            logprobs, state_values, dist_entropy = self.policy.evaluate(old_states, old_actions)
            ratios = torch.exp(logprobs - old_logprobs.detach())
            advantages = rewards - state_values.detach()
            surr1 = ratios * advantages
            surr2 = torch.clamp(ratios, 0.8, 1.2) * advantages
            loss = -torch.min(surr1, surr2) + 0.5 * self.MseLoss(state_values, rewards) - 0.01 * dist_entropy
            loss = Viscous.apply(loss.mean())
            pop()
            push("optimizer")
            self.optimizer.zero_grad()
            pop()
            push("backward")
            loss.backward()
            pop()
            push("optimizer")
            self.optimizer.step()
            pop()
        push("target networks")
        self.sync()
        pop()

    def sync(self):
        hamper("target networks")
        self.policy_old.load_state_dict(self.policy.state_dict())

    def monte_carlo(self, memory):
        hamper("advantages")
        rewards, discounted_reward = [], 0
        for reward, is_terminal in zip(reversed(memory.rewards), reversed(memory.is_terminals), strict=True):
            if is_terminal:
                discounted_reward = 0
            discounted_reward = reward + 0.99 * discounted_reward
            rewards.insert(0, discounted_reward)
        rewards = torch.tensor(rewards, dtype=torch.float32)
        return (rewards - rewards.mean()) / (rewards.std() + 1e-5)


def show_off(ppo, env):
    """One game, for the record."""
    push("evaluation")
    hamper("evaluation")
    state, _ = env.reset(seed=1)
    done, score = False, 0.0
    with torch.no_grad():
        while not done:
            state, reward, terminated, truncated, _ = env.step(ppo.policy_old.act(state, None))
            score += reward
            done = terminated or truncated
    pop()
    return score


def save(ppo, file):
    hamper("saving")
    torch.save(ppo.policy.state_dict(), file)


def main():
    episodes = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    torch.manual_seed(12)
    env = gym.wrappers.TimeLimit(Valley(), 100)
    stage = gym.wrappers.TimeLimit(Valley(), 20)
    memory, ppo, timestep = Memory(), PPO(2, 3), 0
    file = os.path.join(tempfile.mkdtemp(), "ppo.pth")
    first = None
    for i_episode in range(1, episodes + 1):
        push("wrappers")
        state, _ = env.reset(seed=12 if i_episode == 1 else None)
        pop()
        if first is None:
            account.parts.clear(), account.costs.clear()
            account.checked = first = time.perf_counter()
        for _ in range(100):
            timestep += 1
            with torch.no_grad():
                action = ppo.policy_old.act(state, memory)
            push("wrappers")
            state, reward, terminated, truncated, _ = env.step(action)
            pop()
            push("buffer write")
            memory.keep(reward + abs(float(state[1])), terminated or truncated)
            pop()
            if timestep % 200 == 0:
                ppo.update(memory)
                memory.clear_memory()
            if terminated or truncated:
                break
        if i_episode % 10 == 0:
            show_off(ppo, stage)
            push("saving")
            save(ppo, file)
            pop()
    account.check()
    account.seconds = account.checked - first


if __name__ == "__main__":
    main()
    if "TRUTH" in os.environ:
        with open(os.environ["TRUTH"], "w") as out:
            json.dump({key: getattr(account, key) for key in ("seconds", "costs", "parts", "calls")}, out)
