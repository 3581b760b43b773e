"""An actor-critic written by hand, probed. `python examples/probe_my_agent.py` prints what is right and wrong with it.

The same from a shell: `rldebug probe examples/probe_my_agent.py:make_agent`.
"""

import torch
from torch import nn
from torch.distributions import Categorical

import rldebug


class ActorCritic:
    """One step at a time is played, sixteen at a time are learned from. What `rldebug.probe` needs is marked."""

    gamma = 0.9  # read by rldebug.probe: right values depend on it
    lam = 0.0  # likewise: how far sampled returns are trusted; here only one step, and the critic for the rest

    def __init__(self, make_env, seed):
        torch.manual_seed(seed)
        self.env = make_env()
        self.obs, _ = self.env.reset(seed=seed)
        size, actions = len(self.obs), int(self.env.action_space.n)
        self.actor = nn.Sequential(nn.Linear(size, 32), nn.Tanh(), nn.Linear(32, actions))
        self.critic = nn.Sequential(nn.Linear(size, 32), nn.Tanh(), nn.Linear(32, 1), nn.Flatten(0))
        self.optimizer = torch.optim.Adam([*self.actor.parameters(), *self.critic.parameters()], lr=0.01)

    def learn(self, steps):  # called by rldebug.probe, again and again: go on from where you were
        for _ in range(0, steps, 16):
            obs, action, reward, after, terminated = map(
                torch.stack, zip(*(self.step() for _ in range(16)), strict=True)
            )
            with torch.no_grad():  # where an episode was cut off (truncated), the critic still tells what was to come
                target = reward + self.gamma * torch.where(terminated, 0.0, self.critic(after))
            value, acting = self.critic(obs), Categorical(logits=self.actor(obs))
            advantage = target - value.detach()
            policy_loss = -(acting.log_prob(action) * advantage).mean() - 0.01 * acting.entropy().mean()
            self.optimizer.zero_grad()
            (policy_loss + (value - target).square().mean()).backward()
            self.optimizer.step()

    def step(self):
        seen = torch.as_tensor(self.obs)
        with torch.no_grad():
            action = Categorical(logits=self.actor(seen)).sample()
        after, reward, terminated, truncated, _ = self.env.step(action.item())
        self.obs = self.env.reset()[0] if terminated or truncated else after
        return seen, action, torch.tensor(float(reward)), torch.as_tensor(after), torch.tensor(terminated)

    @torch.no_grad()
    def value(self, obs):  # called by rldebug.probe, with a batch of observations: (N, …) to (N,)
        return self.critic(torch.as_tensor(obs))

    @torch.no_grad()
    def policy(self, obs):  # likewise: (N, …) to (N, actions) probabilities
        return self.actor(torch.as_tensor(obs)).softmax(dim=-1)


def make_agent(make_env, seed=0):
    """Called by rldebug.probe for every rung; `make_env()` makes an environment of it."""
    return ActorCritic(make_env, seed)


RUNGS = ("constant-reward", "observed-reward", "delayed-reward", "action-reward", "observed-action-reward")


def main(probes=RUNGS):
    report = rldebug.probe(make_agent, probes=probes)
    for rung in report.program["rungs"]:
        print(f"{rung['number']:2d} {rung['name']:24s} {rung['outcome']}: {rung['reason']}")
    return report


if __name__ == "__main__":
    main()
