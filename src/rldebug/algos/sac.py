"""Soft actor-critic (Haarnoja and others, 2018), for continuous actions: twin critics, and a learned temperature.

Read it top to bottom: the settings, the networks, then `train`: act with a policy that is paid for being random, keep
what happened, and on what is drawn from it fit the critics, improve the policy through them, and set the pay. The
details that decide whether it learns are named where they are.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from torch import Tensor, nn

from rldebug.checkpoint import TrainingError
from rldebug.parts.buffers import Replay
from rldebug.parts.distributions import SquashedGaussian
from rldebug.parts.ensemble import Ensemble, soft_update
from rldebug.parts.heads import Intake, Output, as_tensor, mlp
from rldebug.parts.vector import true_next
from rldebug.training import Training

ITERATION = 500  # environment steps between two looks at progress and checkpoints, or a round if that is longer


@dataclass(frozen=True)
class Settings:
    envs: int = 1  # environments side by side
    buffer: int = 1_000_000  # transitions that are kept to learn from; room is taken as it fills
    learning_starts: int = 1_000  # steps at random, in all environments together, before learning begins
    train_every: int = 1  # steps of each environment between two rounds of learning
    updates: int = 1  # gradient steps per round, of each network
    batch: int = 256  # transitions per gradient step
    lr: float = 3e-4  # Adam's step size, for policy, critics and temperature
    gamma: float = 0.99  # how much a reward one step later counts
    tau: float = 0.005  # how far the target critics move towards the critics at each gradient step
    critics: int = 2  # the least of so many is believed
    alpha: float = 1.0  # the temperature at the start: what a nat of entropy is worth, in rewards
    target_entropy: float = (
        -1.0
    )  # per number of an action, on a scale where it reaches from −1 to 1; lower is less random
    hidden: tuple[int, ...] = (256, 256)  # widths of the hidden layers of policy and critics


class Policy(nn.Module):
    """From observations to a Gaussian that tanh squashes onto the bounds of the actions."""

    def __init__(
        self, observation_space: gym.Space[Any], action_space: gym.spaces.Box, hidden: tuple[int, ...]
    ) -> None:
        super().__init__()
        self.intake = Intake(observation_space, hidden=hidden, activation=nn.ReLU)
        # The last layer is zero: a deviation of 1 before the tanh spreads the first actions over all of the range.
        self.output = Output(action_space, self.intake.width, kind="squashed")

    def forward(self, obs: Any) -> SquashedGaussian:
        distribution: SquashedGaussian = self.output(self.intake(obs))
        return distribution


class Critics(nn.Module):
    """Q(s, a) by several networks at once: observations and actions to `(critics, N)`."""

    centre: Tensor
    reach: Tensor

    def __init__(self, observation_space: gym.Space[Any], action_space: gym.spaces.Box, settings: Settings) -> None:
        super().__init__()
        # No weights of its own, except where there are images: their convolutions serve all critics.
        self.intake = Intake(observation_space, hidden=())
        low, high = (
            torch.as_tensor(bound, dtype=torch.float32).flatten() for bound in (action_space.low, action_space.high)
        )
        self.register_buffer("centre", (high + low) / 2)
        self.register_buffer("reach", (high - low) / 2)
        sizes = [self.intake.width + len(low), *settings.hidden, 1]
        self.heads = Ensemble(lambda: mlp(sizes, nn.ReLU, last_gain=1.0), settings.critics)

    def forward(self, obs: Any, action: Tensor) -> Tensor:
        # On a scale from −1 to 1, like the policy's: a range of 0 … 1000 would drown the observation.
        unit = (action.flatten(1) - self.centre) / self.reach
        q: Tensor = self.heads(torch.cat([self.intake(obs), unit], -1)).squeeze(-1)
        return q


class Temperature(nn.Module):
    """The price of randomness, by its logarithm: it stays positive."""

    def __init__(self, alpha: float) -> None:
        super().__init__()
        self.log = nn.Parameter(torch.tensor(alpha).log())


def train(run: Training, settings: Settings) -> Callable[[Any], Any]:
    envs = run.envs(settings.envs)
    space, device = envs.single_observation_space, run.device
    action_space = _bounded(envs.single_action_space)
    policy = Policy(space, action_space, settings.hidden).to(device)
    critics = Critics(space, action_space, settings).to(device)
    target_critics = copy.deepcopy(critics).requires_grad_(False)
    temperature = Temperature(settings.alpha).to(device)
    # The entropy is that of the action in the environment's units. Doubling the range adds log 2 for each number.
    target_entropy = settings.target_entropy * critics.reach.numel() + critics.reach.log().sum()
    # fused: one kernel for all parameters of a network
    policy_optimizer, critic_optimizer, temperature_optimizer = (
        torch.optim.Adam(each.parameters(), lr=settings.lr, fused=True) for each in (policy, critics, temperature)
    )
    policy_parameters = list(policy.parameters())
    replay = Replay(
        settings.buffer,
        space,
        action_space,
        envs=settings.envs,
        gamma=settings.gamma,
        device=device,
        seed=run.seed,
    )
    obs = run.begin(
        policy=policy,
        critics=critics,
        target_critics=target_critics,
        temperature=temperature,
        policy_optimizer=policy_optimizer,
        critic_optimizer=critic_optimizer,
        temperature_optimizer=temperature_optimizer,
        replay=replay,
    )
    optimizers = {"policy": policy_optimizer, "critic": critic_optimizer, "temperature": temperature_optimizer}
    dbg = run.watch(policy=policy, critic=critics, target=target_critics, optimizer=optimizers, gamma=settings.gamma)

    per_round = settings.train_every * settings.envs  # environment steps
    rounds = max(ITERATION // per_round, 1)

    for _ in run.iterations(rounds * per_round):
        value_losses: list[Tensor] = []
        for round_ in range(rounds):
            step = run.steps_done + round_ * per_round
            # ── act: at random at first, so that the critics see all kinds of actions, then as the policy says ──
            for t in range(settings.train_every):
                with torch.inference_mode():
                    now = policy(as_tensor(space, obs, device))
                    if step + t * settings.envs < settings.learning_starts:
                        chosen = now.centre + now.reach * (2 * torch.rand_like(now.mean) - 1)
                    else:
                        chosen = now.sample()
                action = now.to_env(chosen)
                next_obs, reward, terminated, truncated, info = envs.step(action)
                # Where an episode ended, `next_obs` is the first of the next one, and not what the action led to.
                replay.add(obs, action, reward, true_next(next_obs, info), terminated, truncated)
                obs = next_obs
            if step + per_round <= settings.learning_starts:
                continue

            # ── learn ──
            for _update in range(settings.updates):
                batch = replay.sample(settings.batch)
                batch_obs, batch_next = as_tensor(space, batch.obs, device), as_tensor(space, batch.next_obs, device)

                # The critics. Next actions are those of the policy as it is now, not those that were played: with these
                # the value would be that of a mixture of all policies so far.
                with torch.no_grad():
                    alpha = temperature.log.exp()
                    after = policy(batch_next)
                    next_action = after.sample()
                    # The least of them: the policy seeks out what is overrated, and is less likely to fool all at once.
                    next_q = target_critics(batch_next, next_action).amin(0)
                    # discount: γ, and 0 where the episode terminated. Where it only ran out of time it would have gone
                    # on: the bootstrap stays.
                    target = batch.reward + batch.discount * (next_q - alpha * after.log_prob(next_action))
                q = critics(batch_obs, batch.action)
                value_loss = (q - target).square().mean(-1).sum()  # each critic has its own loss: not of their minimum
                critic_optimizer.zero_grad()
                value_loss.backward()
                critic_optimizer.step()

                # The policy, through the action: d Q(s, a) / d a · d a / d policy.
                pi = policy(batch_obs)
                new_action = pi.rsample()  # with its gradient, where `sample` has none
                logp = pi.log_prob(new_action)
                policy_loss = (alpha * logp - critics(batch_obs, new_action).amin(0)).mean()
                policy_optimizer.zero_grad()
                # inputs: the loss reaches the critics' weights too. Their gradients would cost time, and lie in wait
                # for a critic step without zero_grad, which would make actions look good instead of predicting them.
                policy_loss.backward(inputs=policy_parameters)
                policy_optimizer.step()

                # The temperature: up where the policy is less random than it should be, down where it is more.
                excess = (-logp.detach() - target_entropy).mean()  # of entropy
                temperature_optimizer.zero_grad()
                (temperature.log * excess).backward()
                temperature_optimizer.step()

                soft_update(target_critics, critics, settings.tau)
                value_losses.append(value_loss.detach())
                if dbg:
                    plain = isinstance(batch_obs, Tensor)
                    dbg.replay(
                        obs=batch_obs if plain else None,
                        action=batch.action,
                        reward=batch.reward,
                        next_obs=batch_next if plain else None,
                        terminated=batch.terminated,
                        truncated=batch.truncated,
                    )
                    dbg.update(
                        loss={"policy": policy_loss, "value": value_loss},
                        value=q[0],
                        target=target,
                        entropy=-logp.detach(),
                    )

        if value_losses:
            run.log(
                value_loss=torch.stack(value_losses).mean(),
                q=q.mean(),
                entropy=-logp.mean(),
                alpha=alpha,
            )
        else:
            run.log()

    @torch.inference_mode()
    def act(obs: Any) -> Any:
        now = policy(as_tensor(space, obs, device))
        return now.to_env(now.mode())

    return act


def _bounded(action_space: gym.Space[Any]) -> gym.spaces.Box:
    """The action space, or why it cannot be."""
    if not isinstance(action_space, gym.spaces.Box) or not np.issubdtype(action_space.dtype, np.floating):
        raise TrainingError(
            f"sac needs a Box of floating-point actions, this action space is {action_space}: its policy follows the "
            "slope of the value along the action, and choices have none; dqn takes Discrete, ppo, trpo, a2c and vpg any"
        )
    if not np.isfinite([action_space.low, action_space.high]).all():
        raise TrainingError(
            f"sac needs actions with bounds, this action space is {action_space}: the policy is squashed onto them; "
            "ppo, trpo, a2c and vpg do without"
        )
    return action_space
