"""Proximal policy optimisation (Schulman and others, 2017), for discrete and continuous actions, vectors and images.

Read it top to bottom: the settings, the network, then `train`: act with the policy as it is, work out advantages, take
several passes over what was collected. The details that decide whether it learns are named where they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from torch import Tensor, nn

from rldebug.checkpoint import TrainingError
from rldebug.parts.buffers import RolloutBuffer
from rldebug.parts.distributions import ActionDistribution
from rldebug.parts.heads import Intake, Output, as_tensor, is_image, mlp
from rldebug.parts.nested import stack
from rldebug.parts.normalise import ReturnScale, RunningNorm
from rldebug.parts.returns import gae
from rldebug.training import Training


@dataclass(frozen=True)
class Settings:
    envs: int = 8  # environments side by side; their samples are less alike than those of one
    steps: int = 128  # steps in each environment between two rounds of learning
    epochs: int = 4  # passes over each batch; more reuse, and a policy further from the one that acted
    minibatch: int = 256  # rows per gradient step
    lr: float = 2.5e-4  # Adam's step size at the start
    anneal: bool = True  # let the step size fall to zero over the run
    adam_eps: float = 1e-5  # Adam's epsilon: larger than its default of 1e-8, for gradients that are often tiny
    gamma: float = 0.99  # how much a reward one step later counts
    lam: float = 0.95  # GAE's λ: 0 trusts the critic alone, 1 the sampled returns alone
    clip: float = 0.2  # how far the probability ratio may move before its gradient is cut
    value_coef: float = 0.5  # weight of the value loss
    entropy_coef: float = 0.0  # weight of the entropy bonus; above 0 keeps the policy from settling early
    max_grad_norm: float = 0.5  # gradients longer than this are shortened to it
    normalise_advantage: bool = True  # mean 0, deviation 1 within each minibatch
    normalise_obs: bool = False  # by running mean and deviation, clipped at ±5
    scale_reward: bool = False  # by the running deviation of the discounted return
    hidden: tuple[int, ...] = (64, 64)  # widths of hidden layers; policy and critic have their own, except on images


class ActorCritic(nn.Module):
    """From observations to a distribution over actions, and a value."""

    def __init__(self, observation_space: gym.Space[Any], action_space: gym.Space[Any], settings: Settings) -> None:
        super().__init__()
        self.norm = None
        if settings.normalise_obs:
            if observation_space.shape is None or is_image(observation_space):
                raise TrainingError(f"normalise_obs is for vectors of numbers, observations are {observation_space}")
            self.norm = RunningNorm(observation_space.shape)
        if is_image(observation_space):  # convolutions are costly and their features general: one trunk for both
            self.intake = self.critic_intake = Intake(observation_space, hidden=())
        else:  # separate networks: value gradients, often larger, cannot disturb the policy
            self.intake = Intake(observation_space, hidden=settings.hidden)
            self.critic_intake = Intake(observation_space, hidden=settings.hidden)
        # The policy's last layer is zero: all actions equally likely at first, the most entropy there is.
        self.output = Output(action_space, self.intake.width)
        self.value = mlp([self.critic_intake.width, 1], last_gain=1.0)

    def forward(self, obs: Any) -> tuple[ActionDistribution, Tensor]:
        obs = obs if self.norm is None else self.norm(obs)
        features = self.intake(obs)
        critic_features = features if self.critic_intake is self.intake else self.critic_intake(obs)
        # (N, 1) against targets of (N,) would broadcast to (N, N) in the loss, silently: drop the axis here.
        return self.output(features), self.value(critic_features).squeeze(-1)

    def policy(self, obs: Any) -> ActionDistribution:
        obs = obs if self.norm is None else self.norm(obs)
        distribution: ActionDistribution = self.output(self.intake(obs))
        return distribution


def train(run: Training, settings: Settings) -> Callable[[Any], Any]:
    envs = run.envs(settings.envs)
    space, device = envs.single_observation_space, run.device
    model = ActorCritic(space, envs.single_action_space, settings).to(device)
    parameters = list(model.parameters())
    # fused: one kernel for all parameters. With networks this small Adam would otherwise cost as much as backward().
    optimizer = torch.optim.Adam(parameters, lr=settings.lr, eps=settings.adam_eps, fused=True)
    scale = ReturnScale(settings.envs, gamma=settings.gamma)
    actions = envs.single_action_space
    buffer = RolloutBuffer(settings.steps, space, actions, envs=settings.envs, extras=(), device=device)
    obs = run.begin(model=model, optimizer=optimizer, scale=scale)
    dbg = run.watch(policy=model, critic=model, optimizer=optimizer, gamma=settings.gamma)

    for _ in run.iterations(settings.envs * settings.steps):
        if settings.anneal:
            for group in optimizer.param_groups:
                group["lr"] = settings.lr * (1.0 - run.fraction)

        # ── act, with the policy as it is: no gradients, and nothing kept of the forward passes ──
        buffer.clear()
        cut_off: list[tuple[int, Any, Any]] = []  # where time ran out: step, environment, last observation
        with torch.inference_mode():
            for t in range(settings.steps):
                policy = model.policy(as_tensor(space, obs, device))
                action = policy.sample()
                # What is stored is the action as sampled, since its probability is needed; the environment gets it
                # clipped to its bounds.
                next_obs, reward, terminated, truncated, info = envs.step(policy.to_env(action))
                buffer.add(obs=obs, action=action, reward=reward, terminated=terminated, truncated=truncated)
                for i in np.flatnonzero(truncated & ~terminated):
                    cut_off.append((t, i, info["final_obs"][i]))
                obs = next_obs

        # ── targets, from the policy and critic that acted ──
        batch = buffer.rollout()  # (steps, envs, …)
        with torch.no_grad():
            flat = RolloutBuffer.flatten(batch)
            # One forward pass over all that was seen, instead of one per step while acting: the weights are the same.
            policy, value = model(flat["obs"])
            flat["logp"] = policy.log_prob(flat["action"])
            _, last_value = model(as_tensor(space, obs, device))
            value = value.reshape(settings.steps, settings.envs)
            final_value = torch.zeros_like(value)
            if cut_off:  # an episode that ran out of time would have gone on: its last value stands for the rest
                steps, rows, final_obs = zip(*cut_off, strict=True)
                _, final_value[list(steps), list(rows)] = model(as_tensor(space, stack(final_obs), device))
            reward = batch["reward"]
            if settings.scale_reward:
                ended = batch["terminated"] | batch["truncated"]
                reward = torch.as_tensor(scale(reward.cpu().numpy(), ended.cpu().numpy()), device=device)
            advantage, target = gae(
                reward,
                value,
                batch["terminated"],
                batch["truncated"],
                last_value=last_value,
                final_value=final_value,
                gamma=settings.gamma,
                lam=settings.lam,
            )
            flat |= {"advantage": advantage.flatten(), "target": target.flatten()}
        if dbg:
            # A dict of observations cannot be handed over whole: the rest can.
            seen: dict[str, Any] = {name: each for name, each in batch.items() if isinstance(each, Tensor)}
            dbg.rollout(**seen, value=value, logp=flat["logp"].reshape(value.shape))

        # ── learn: several passes in minibatches, in a new order each time ──
        for _epoch in range(settings.epochs):
            log_ratios, entropies = [], []
            for mb in RolloutBuffer.minibatches(flat, settings.minibatch):
                policy, value = model(mb["obs"])
                logp = policy.log_prob(mb["action"])
                adv = mb["advantage"]
                if settings.normalise_advantage and len(adv) > 1:  # within the minibatch, not over the whole batch
                    adv = (adv - adv.mean()) / (adv.std() + 1e-8)
                log_ratio = logp - mb["logp"]
                ratio = log_ratio.exp()
                # The minimum is a lower bound: where clipping would make the objective look better, it is not believed.
                surrogate = torch.min(ratio * adv, ratio.clamp(1 - settings.clip, 1 + settings.clip) * adv)
                policy_loss = -surrogate.mean()
                value_loss = (value - mb["target"]).square().mean()
                entropy_now = policy.entropy().mean()
                loss = policy_loss + settings.value_coef * value_loss - settings.entropy_coef * entropy_now
                if dbg:
                    dbg.update(
                        loss={"policy": policy_loss, "value": value_loss, "entropy": -entropy_now},
                        logp_old=mb["logp"],
                        logp_new=logp,
                        value=value,
                        target=mb["target"],
                        advantage=adv,
                        dist=policy.torch(),
                        clip=settings.clip,
                    )
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(parameters, settings.max_grad_norm)
                optimizer.step()
                # Kept on the device: to read a number here would make the host wait at every step.
                log_ratios.append(log_ratio.detach())
                entropies.append(entropy_now.detach())

        if model.norm is not None:  # after learning: acting and learning saw the same normalisation
            model.norm.update(flat["obs"])
        log_ratio = torch.cat(log_ratios)  # of the last epoch: how far the policy has moved from the one that acted
        run.log(
            kl=(log_ratio.exp() - 1 - log_ratio).mean(),  # never negative, and less noisy than the mean of −log ratio
            clipped=((log_ratio.exp() - 1).abs() > settings.clip).float().mean(),
            entropy=torch.stack(entropies).mean(),
            value_loss=value_loss,
            lr=optimizer.param_groups[0]["lr"],
        )

    @torch.inference_mode()
    def act(obs: Any) -> Any:
        policy = model.policy(as_tensor(space, obs, device))
        return policy.to_env(policy.mode())

    return act
