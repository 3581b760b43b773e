"""Vanilla policy gradient (REINFORCE, Williams 1992, with rewards-to-go and a critic), in one process or several.

Read it top to bottom: the settings, the networks, then `train`: act with the policy as it is, work out advantages, take
one step of the policy for the whole batch, and several of the critic. The details that decide whether it learns are
named where they are. Several processes are started by `rldebug train vpg --processes 4 …`, or by
`torchrun --nproc-per-node 4 -m rldebug train vpg …`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from torch import Tensor, nn

from rldebug.checkpoint import TrainingError
from rldebug.parts.buffers import RolloutBuffer
from rldebug.parts.distributed import World, average_gradients, broadcast, check_equal, gather_moments, step_on_first
from rldebug.parts.distributions import ActionDistribution
from rldebug.parts.heads import Intake, Output, as_tensor, is_image, mlp
from rldebug.parts.nested import each, stack
from rldebug.parts.normalise import RunningNorm
from rldebug.parts.returns import gae, reward_to_go
from rldebug.training import Training

MANY_PROCESSES = True
SCHEMES = ("all-reduce", "broadcast")


@dataclass(frozen=True)
class Settings:
    envs: int = 8  # environments side by side, in each process
    steps: int = 500  # steps in each environment between two updates: the whole batch makes one step of the policy
    lr: float = 3e-4  # Adam's step size for the policy, at the start
    anneal: bool = False  # let the policy's step size fall to zero over the run
    baseline: bool = True  # subtract a critic's value, and estimate advantages by GAE; without: plain rewards-to-go
    critic_lr: float = 1e-3  # Adam's step size for the critic
    critic_steps: int = 80  # steps of the critic per update, on the whole batch: a regression, it may be repeated
    gamma: float = 0.99  # how much a reward one step later counts
    lam: float = 0.97  # GAE's λ: 0 trusts the critic alone, 1 the sampled returns alone
    normalise_advantage: bool = True  # mean 0, deviation 1 over the batch, of all processes together
    normalise_obs: bool = False  # by running mean and deviation of what all processes saw, clipped at ±5
    value_coef: float = 0.5  # weight of the value loss in the policy's step, on images, where both share features
    chunks: int = 1  # backward passes per step of the policy: more take less memory, and give the same gradient
    scheme: str = "all-reduce"  # of several processes: all step by the mean gradient; or "broadcast": the first for all
    check_ranks: bool = True  # after every update, make sure that all processes hold the same weights
    hidden: tuple[int, ...] = (64, 64)  # widths of hidden layers; policy and critic have their own, except on images


class Policy(nn.Module):
    """From observations to a distribution over actions."""

    def __init__(self, observation_space: gym.Space[Any], action_space: gym.Space[Any], settings: Settings) -> None:
        super().__init__()
        self.norm = None
        if settings.normalise_obs:
            if observation_space.shape is None or is_image(observation_space):
                raise TrainingError(f"normalise_obs is for vectors of numbers, observations are {observation_space}")
            self.norm = RunningNorm(observation_space.shape)
        self.intake = Intake(observation_space, hidden=() if is_image(observation_space) else settings.hidden)
        # The last layer is zero: all actions equally likely at first, the most entropy there is.
        self.output = Output(action_space, self.intake.width)

    def normalised(self, obs: Any) -> Any:
        return obs if self.norm is None else self.norm(obs)

    def features(self, obs: Any) -> Tensor:
        features: Tensor = self.intake(self.normalised(obs))
        return features

    def forward(self, obs: Any) -> ActionDistribution:
        distribution: ActionDistribution = self.output(self.features(obs))
        return distribution


class Critic(nn.Module):
    """From what it `sees` to values `(N,)`. Of images it sees the policy's features: convolutions are costly, and what
    they find is of use to both. Else it has a network of its own, so that its many steps leave the policy alone."""

    def __init__(self, observation_space: gym.Space[Any], policy: Policy, settings: Settings) -> None:
        super().__init__()
        self.intake = None if is_image(observation_space) else Intake(observation_space, hidden=settings.hidden)
        self.value = mlp([(self.intake or policy.intake).width, 1], last_gain=1.0)

    def sees(self, obs: Any, policy: Policy) -> Any:
        return policy.features(obs) if self.intake is None else policy.normalised(obs)

    def forward(self, seen: Any) -> Tensor:
        # (N, 1) against targets of (N,) would broadcast to (N, N) in the loss, silently: drop the axis here.
        value: Tensor = self.value(seen if self.intake is None else self.intake(seen)).squeeze(-1)
        return value


def train(run: Training, settings: Settings) -> Callable[[Any], Any]:
    rows, world, device = settings.envs * settings.steps, run.world, run.device
    if settings.scheme not in SCHEMES:
        raise TrainingError(f"scheme is {settings.scheme!r}, expected {' or '.join(map(repr, SCHEMES))}")
    if not 1 <= settings.chunks <= rows:
        raise TrainingError(f"chunks is {settings.chunks}, expected 1 to {rows}, the rows of a batch (envs · steps)")
    envs = run.envs(settings.envs)
    space, actions = envs.single_observation_space, envs.single_action_space
    policy = Policy(space, actions, settings).to(device)
    critic = Critic(space, policy, settings).to(device)
    models = nn.ModuleDict({"policy": policy, "critic": critic})
    of_policy, of_critic = list(policy.parameters()), list(critic.parameters())
    # fused: one kernel for all parameters. With networks this small Adam would otherwise cost as much as backward().
    optimizer = torch.optim.Adam(of_policy, lr=settings.lr, fused=True)
    critic_optimizer = torch.optim.Adam(of_critic, lr=settings.critic_lr, fused=True)
    buffer = RolloutBuffer(settings.steps, space, actions, envs=settings.envs, extras=(), device=device)
    obs = run.begin(models=models, optimizer=optimizer, critic_optimizer=critic_optimizer)
    # From here on equal weights stay equal as long as all ranks take the same steps: nothing else keeps them so.
    broadcast(models.parameters(), world)
    watched = {"policy": policy, "optimizer": {"policy": optimizer}, "gamma": settings.gamma}
    if settings.baseline:
        watched |= {"critic": critic, "optimizer": {"policy": optimizer, "critic": critic_optimizer}}
    dbg = run.watch(**watched)

    for _ in run.iterations(rows):
        if settings.anneal:
            for group in optimizer.param_groups:
                group["lr"] = settings.lr * (1.0 - run.fraction)

        # ── act, with the policy as it is: no gradients, and nothing kept of the forward passes ──
        buffer.clear()
        cut_off: list[tuple[int, Any, Any]] = []  # where time ran out: step, environment, last observation
        with torch.inference_mode():
            for t in range(settings.steps):
                acting = policy(as_tensor(space, obs, device))
                action = acting.sample()
                # What is stored is the action as sampled, since its probability is needed; the environment gets it
                # clipped to its bounds.
                next_obs, reward, terminated, truncated, info = envs.step(acting.to_env(action))
                buffer.add(obs=obs, action=action, reward=reward, terminated=terminated, truncated=truncated)
                for i in np.flatnonzero(truncated & ~terminated):
                    cut_off.append((t, i, info["final_obs"][i]))
                obs = next_obs

        # ── advantages: an action is credited with what came after it, never with what came before ──
        batch = buffer.rollout()  # (steps, envs, …)
        flat = RolloutBuffer.flatten(batch)
        told: dict[str, Any] = {name: given for name, given in batch.items() if isinstance(given, Tensor)}  # for dbg
        with torch.no_grad():
            if settings.baseline:
                value = critic(critic.sees(flat["obs"], policy)).reshape(settings.steps, settings.envs)
                final_value = torch.zeros_like(value)
                if cut_off:  # an episode that ran out of time would have gone on: its last value stands for the rest
                    steps, where, final_obs = zip(*cut_off, strict=True)
                    last = as_tensor(space, stack(final_obs), device)
                    final_value[list(steps), list(where)] = critic(critic.sees(last, policy))
                advantage, target = gae(
                    batch["reward"],
                    value,
                    batch["terminated"],
                    batch["truncated"],
                    last_value=critic(critic.sees(as_tensor(space, obs, device), policy)),
                    final_value=final_value,
                    gamma=settings.gamma,
                    lam=settings.lam,
                )
                flat["target"] = target.flatten()
                told["value"] = value
            else:
                # Nobody knows what would have come after the end of the batch, or of the time: it counts as nothing.
                # What is learned is then the return until there, and `steps` must be long for that to be of use.
                ended = batch["terminated"] | batch["truncated"]
                advantage = reward_to_go(batch["reward"], ended, gamma=settings.gamma)
            if settings.normalise_advantage:
                advantage = normalised(advantage, world)
            flat["advantage"] = advantage.flatten()
        if dbg:
            dbg.rollout(**told)

        # ── the policy: gradients add up while it stays as it was, then it takes one step for all that it did ──
        optimizer.zero_grad()
        logp_old, entropies = [], []
        for number, part in enumerate(chunked(flat, settings.chunks), 1):
            features = policy.features(part["obs"])
            acting = policy.output(features)
            logp = acting.log_prob(part["action"])
            loss = policy_loss = -(logp * part["advantage"]).mean()
            losses = {"policy": policy_loss}
            if settings.baseline and critic.intake is None:  # shared features are also to tell good from bad
                losses["value"] = (critic(features) - part["target"]).square().mean()
                loss = policy_loss + settings.value_coef * losses["value"]
            if dbg and number == settings.chunks:
                dbg.update(loss=losses, logp_new=logp, advantage=part["advantage"], dist=acting.torch())
            # By its share of the rows: the gradients then add up to that of the mean over the batch.
            (loss * (len(logp) / rows)).backward()
            logp_old.append(logp.detach())
            entropies.append(acting.entropy().detach())
        step(optimizer, of_policy, world, settings.scheme)
        with torch.no_grad():
            features = policy.features(flat["obs"])
            log_ratio = policy.output(features).log_prob(flat["action"]) - torch.cat(logp_old)
        numbers = {
            "kl": (log_ratio.exp() - 1 - log_ratio).mean(),  # how far the step went: nothing in VPG limits it
            "entropy": torch.cat(entropies).mean(),
            "lr": optimizer.param_groups[0]["lr"],
        }

        # ── the critic: several steps towards targets that stay as they are ──
        if settings.baseline:
            seen = features if critic.intake is None else policy.normalised(flat["obs"])
            for _step in range(settings.critic_steps):
                value = critic(seen)
                value_loss = (value - flat["target"]).square().mean()
                if dbg:
                    dbg.update(loss={"value": value_loss}, value=value, target=flat["target"])
                critic_optimizer.zero_grad()  # also what the policy's step left here, where features are shared
                value_loss.backward()
                step(critic_optimizer, of_critic, world, settings.scheme)
                numbers["value_loss"] = value_loss

        if policy.norm is not None:  # after learning: acting and learning saw the same normalisation
            take_in(policy.norm, flat["obs"], world)
        if settings.check_ranks:  # ranks that drift apart go unnoticed otherwise: each of them still learns
            check_equal(models.state_dict(), world)
        run.log(**numbers)

    @torch.inference_mode()
    def act(obs: Any) -> Any:
        acting = policy(as_tensor(space, obs, device))
        return acting.to_env(acting.mode())

    return act


def chunked(batch: dict[str, Any], count: int) -> Iterator[dict[str, Any]]:
    """Tensors `(N, …)` in `count` stretches of as many rows, or one more."""
    ends = np.linspace(0, len(batch["advantage"]), count + 1).astype(int)
    return (each(itemgetter(slice(start, end)), batch) for start, end in pairwise(ends))


# ── several processes; alone, each of these does what one would have written without it ──


def step(optimizer: torch.optim.Optimizer, parameters: Sequence[Tensor], world: World, scheme: str) -> None:
    """One step by the mean of the gradients of all ranks. Every rank has as many rows: it is that of all rows too."""
    if world.size == 1:
        optimizer.step()
    elif scheme == "all-reduce":
        average_gradients(parameters, world)
        optimizer.step()
    else:
        step_on_first(optimizer, parameters, world)


def normalised(advantage: Tensor, world: World) -> Tensor:
    """Over all ranks: by its own mean and deviation, the best of a bad rank would count as much as of a good one."""
    var, mean = torch.var_mean(advantage, correction=0)
    mean, var, _ = gather_moments(mean, var, torch.tensor(float(advantage.numel())), world)
    return (advantage - mean) / (var.sqrt() + 1e-8)


def take_in(norm: RunningNorm, obs: Tensor, world: World) -> None:
    """What all ranks saw since the last time: the same observation must look the same to all of them."""
    new = RunningNorm(norm.shape).to(obs.device)
    new.update(obs)
    shared = gather_moments(new.mean, new.var, new.count, world)
    for own, of_all in zip((new.mean, new.var, new.count), shared, strict=True):
        own.copy_(of_all)
    new.refresh()
    norm.merge(new)
