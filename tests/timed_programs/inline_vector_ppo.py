"""PPO, all in one loop, with a vector of environments and TensorBoard."""

import json
import os
import sys
import tempfile
import time

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from torch.distributions.categorical import Categorical
from torch.utils.tensorboard import SummaryWriter

KIND = os.environ.get("COST_KIND", "burn")
PRICES = {
    name[5:].lower().replace("_", " "): float(value) / 1e3
    for name, value in os.environ.items()
    if name.startswith("COST_") and name != "COST_KIND"
}
SQUARE = {True: torch.rand(640, 640), False: torch.rand(64, 64)}
paid, visits, kept, under_way = {}, {}, {}, ["other"]
mark = [0.0]


def pay(what):
    visits[what] = visits.get(what, 0) + 1
    if not (price := PRICES.get(what)):
        return
    begin = time.perf_counter()
    if KIND == "sleep":
        time.sleep(price)
    while time.perf_counter() - begin < price:
        if KIND == "torch":
            torch.mm(SQUARE[price > 0.01], SQUARE[price > 0.01])
    paid[what] = paid.get(what, 0.0) + time.perf_counter() - begin


def go(what):
    now = time.perf_counter()
    kept[under_way[-1]] = kept.get(under_way[-1], 0.0) + now - mark[0]
    mark[0] = now
    under_way.append(what)


def back():
    go("")
    del under_way[-2:]


def as_floats(array):
    visits["copies"] = visits.get("copies", 0) + 1
    begin = time.perf_counter()
    result = torch.Tensor(array)
    while time.perf_counter() - begin < PRICES.get("copies", 0.0):
        for _ in range(20):
            result = torch.tensor(array)
    paid["copies"] = paid.get("copies", 0.0) + time.perf_counter() - begin
    return result


class Slope(gym.Env):
    observation_space = gym.spaces.Box(-np.inf, np.inf, (4,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        go("reset")
        pay("reset")
        self.t = 0
        self.x = self.np_random.normal(size=4).astype(np.float32) * 0.1
        back()
        return self.x, {}

    def step(self, action):
        go("simulator")
        pay("simulator")
        self.t += 1
        self.x = (0.99 * self.x + 0.05 * (2 * int(action) - 1) + 0.02 * self.np_random.normal(size=4)).astype(
            np.float32
        )
        over = bool(np.abs(self.x).max() > 1.5)
        back()
        return self.x, float(1 - abs(self.x[0])), over, self.t >= 60, {}


class Squash(gym.ObservationWrapper):
    def observation(self, observation):
        pay("wrappers")
        return np.tanh(observation)


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.critic = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
        self.actor = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 2))

    def forward(self, x):
        pay("loss" if torch.is_grad_enabled() else "acting")
        return self.actor(x)

    def get_value(self, x):
        return self.critic(x)

    def get_action_and_value(self, x, action=None):
        probs = Categorical(logits=self(x))
        if action is None:
            action = probs.sample()
        return action, probs.log_prob(action), probs.entropy(), self.critic(x)


class Lag(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        pay("backward")
        return grad


class HeavyAdam(optim.Adam):
    def step(self, closure=None):
        pay("optimizer")
        return super().step(closure)


class Board(SummaryWriter):
    def add_scalar(self, *args, **kwargs):
        pay("logging")
        super().add_scalar(*args, **kwargs)


def keep(rows, step, row):
    pay("buffer write")
    rows[step] = row


def td_error(reward, following, alive, value):
    pay("advantages")
    return reward + gamma * following * alive - value


def make_env():
    return gym.wrappers.RecordEpisodeStatistics(Squash(Slope()))


num_updates = int(sys.argv[1]) if len(sys.argv) > 1 else 14
num_envs, num_steps, update_epochs, num_minibatches, gamma, gae_lambda, clip_coef = 4, 128, 4, 4, 0.99, 0.95, 0.2
batch_size = num_envs * num_steps
minibatch_size = batch_size // num_minibatches
torch.manual_seed(1)
np.random.seed(1)
run_name = tempfile.mkdtemp()
writer = Board(run_name)
envs = gym.vector.SyncVectorEnv([make_env] * num_envs, autoreset_mode=gym.vector.AutoresetMode.SAME_STEP)
agent = Agent()
optimizer = HeavyAdam(agent.parameters(), lr=2.5e-4, eps=1e-5)

obs = torch.zeros((num_steps, num_envs, 4))
actions = torch.zeros((num_steps, num_envs))
logprobs = torch.zeros((num_steps, num_envs))
rewards = torch.zeros((num_steps, num_envs))
dones = torch.zeros((num_steps, num_envs))
values = torch.zeros((num_steps, num_envs))
global_step = 0
next_obs, _ = envs.reset(seed=1)
next_obs = torch.Tensor(next_obs)
next_done = torch.zeros(num_envs)
mark[0] = started = time.perf_counter()
paid.clear(), kept.clear()

for _ in range(num_updates):
    for step in range(num_steps):
        global_step += num_envs
        go("buffer write")
        obs[step] = next_obs
        dones[step] = next_done
        back()
        go("acting")
        with torch.no_grad():
            action, logprob, _, value = agent.get_action_and_value(next_obs)
            back()
            go("buffer write")
            values[step] = value.flatten()
        actions[step] = action
        logprobs[step] = logprob
        back()
        go("copies")
        act = action.cpu().numpy()
        back()
        go("wrappers")
        next_obs, reward, terminations, truncations, infos = envs.step(act)
        back()
        next_done = np.logical_or(terminations, truncations)
        go("buffer write")
        keep(rewards, step, 0.5 * torch.tensor(reward).view(-1))
        back()
        go("copies")
        next_obs, next_done = as_floats(next_obs), torch.Tensor(next_done)
        back()
        if "final_info" in infos:
            go("logging")
            for r in infos["final_info"]["episode"]["r"][infos["_final_info"]]:
                writer.add_scalar("charts/episodic_return", r, global_step)
            back()

    go("advantages")
    with torch.no_grad():
        next_value = agent.get_value(next_obs).reshape(1, -1)
        advantages = torch.zeros_like(rewards)
        lastgaelam = 0
        for t in reversed(range(num_steps)):
            if t == num_steps - 1:
                nextnonterminal = 1.0 - next_done
                nextvalues = next_value
            else:
                nextnonterminal = 1.0 - dones[t + 1]
                nextvalues = values[t + 1]
            delta = td_error(rewards[t], nextvalues, nextnonterminal, values[t])
            advantages[t] = lastgaelam = delta + gamma * gae_lambda * nextnonterminal * lastgaelam
        returns = advantages + values

    b_obs = obs.reshape((-1, 4))
    b_logprobs = logprobs.reshape(-1)
    b_actions = actions.reshape(-1)
    b_advantages = advantages.reshape(-1)
    b_returns = returns.reshape(-1)
    back()

    b_inds = np.arange(batch_size)
    for _epoch in range(update_epochs):
        go("buffer sample")
        np.random.shuffle(b_inds)
        back()
        for start in range(0, batch_size, minibatch_size):
            go("buffer sample")
            mb_inds = b_inds[start : start + minibatch_size]
            mb_obs, mb_actions, mb_logprobs = b_obs[mb_inds], b_actions.long()[mb_inds], b_logprobs[mb_inds]
            mb_advantages, mb_returns = b_advantages[mb_inds], b_returns[mb_inds]
            back()
            go("loss")
            _, newlogprob, entropy, newvalue = agent.get_action_and_value(mb_obs, mb_actions)
            ratio = (newlogprob - mb_logprobs).exp()
            mb_advantages = (mb_advantages - mb_advantages.mean()) / (mb_advantages.std() + 1e-8)
            pg_loss1 = -mb_advantages * ratio
            pg_loss2 = -mb_advantages * torch.clamp(ratio, 1 - clip_coef, 1 + clip_coef)
            pg_loss = torch.max(pg_loss1, pg_loss2).mean()
            v_loss = 0.5 * ((newvalue.view(-1) - mb_returns) ** 2).mean()
            entropy_loss = entropy.mean()
            loss = Lag.apply(pg_loss - 0.01 * entropy_loss + v_loss * 0.5)
            back()
            go("optimizer")
            optimizer.zero_grad()
            back()
            go("backward")
            loss.backward()
            back()
            go("optimizer")
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
            back()

    go("logging")
    writer.add_scalar("losses/value_loss", v_loss.item(), global_step)
    writer.add_scalar("losses/policy_loss", pg_loss.item(), global_step)
    back()

back()
if "TRUTH" in os.environ:
    with open(os.environ["TRUTH"], "w") as file:
        json.dump({"seconds": mark[0] - started, "costs": paid, "parts": kept, "calls": visits}, file)
envs.close()
writer.close()
