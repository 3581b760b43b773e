"""Synchronous advantage actor-critic (Mnih and others, 2016), for discrete and continuous actions, vectors and images.

Read it top to bottom: the settings, the network, then `train`: a few steps in every environment, one gradient step on
all of them, and what was collected is thrown away. The details that decide whether it learns are named where they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
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

ITERATION = 500  # environment steps, about, that share a line of progress: one update is over too soon for its own


@dataclass(frozen=True)
class Settings:
    envs: int = 8  # environments side by side: with so few steps each, they are what makes the gradient less noisy
    steps: int = 5  # steps in each environment between two gradient steps
    lr: float = 7e-4  # RMSprop's step size at the start
    anneal: bool = False  # let the step size fall to zero over the run
    rms_alpha: float = 0.99  # how slowly RMSprop forgets the squares of past gradients
    rms_eps: float = 1e-5  # RMSprop's epsilon: larger than its default of 1e-8, for gradients that are often tiny
    gamma: float = 0.99  # how much a reward one step later counts
    lam: float = 1.0  # GAE's λ: 0 trusts the critic alone, 1 the sampled returns alone, as far as the few steps reach
    value_coef: float = 0.5  # weight of the value loss
    entropy_coef: float = 0.0  # weight of the entropy bonus; above 0 keeps the policy from settling early
    max_grad_norm: float = 0.5  # gradients longer than this are shortened to it
    normalise_advantage: bool = False  # mean 0, deviation 1 within the batch; noisy where that is small
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

    def critic(self, obs: Any) -> Tensor:
        obs = obs if self.norm is None else self.norm(obs)
        value: Tensor = self.value(self.critic_intake(obs)).squeeze(-1)
        return value


def train(run: Training, settings: Settings) -> Callable[[Any], Any]:
    envs = run.envs(settings.envs)
    space, device = envs.single_observation_space, run.device
    model = ActorCritic(space, envs.single_action_space, settings).to(device)
    optimizer = FlatRMSprop(
        model.parameters(),
        lr=settings.lr,
        alpha=settings.rms_alpha,
        eps=settings.rms_eps,
        max_grad_norm=settings.max_grad_norm,
    )
    scale = ReturnScale(settings.envs, gamma=settings.gamma)
    actions = envs.single_action_space
    buffer = RolloutBuffer(settings.steps, space, actions, envs=settings.envs, extras=(), device=device)
    obs = run.begin(model=model, optimizer=optimizer, scale=scale)
    dbg = run.watch(policy=model, critic=model, optimizer=optimizer, gamma=settings.gamma)
    rows = settings.envs * settings.steps
    updates = max(1, ITERATION // rows)

    for _ in run.iterations(rows * updates):
        if settings.anneal:
            for group in optimizer.param_groups:
                group["lr"] = settings.lr * (1.0 - run.fraction)

        for _update in range(updates):
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

            # ── one pass with a graph. Its values also make the targets: they are those of the critic that acted ──
            batch = buffer.rollout()  # (steps, envs, …)
            flat = RolloutBuffer.flatten(batch)
            policy, value = model(flat["obs"])
            logp = policy.log_prob(flat["action"])
            with torch.no_grad():
                seen = value.detach().reshape(settings.steps, settings.envs)
                final_value = torch.zeros_like(seen)
                if cut_off:  # an episode that ran out of time would have gone on: its last value stands for the rest
                    steps, where, final_obs = zip(*cut_off, strict=True)
                    final_value[list(steps), list(where)] = model.critic(as_tensor(space, stack(final_obs), device))
                rewards = batch["reward"]
                if settings.scale_reward:
                    ended = batch["terminated"] | batch["truncated"]
                    rewards = torch.as_tensor(scale(rewards.cpu().numpy(), ended.cpu().numpy()), device=device)
                advantage, target = gae(
                    rewards,
                    seen,
                    batch["terminated"],
                    batch["truncated"],
                    # Most of the return lies beyond the few steps: without this value the critic would learn their sum.
                    last_value=model.critic(as_tensor(space, obs, device)),
                    final_value=final_value,
                    gamma=settings.gamma,
                    lam=settings.lam,
                )
                adv, target = advantage.flatten(), target.flatten()
                if settings.normalise_advantage and len(adv) > 1:
                    adv = (adv - adv.mean()) / (adv.std() + 1e-8)

            # ── learn: one step on all of it; the next one needs new data, since the policy is then another ──
            policy_loss = -(logp * adv).mean()
            value_loss = (value - target).square().mean()
            losses = {"policy": policy_loss, "value": value_loss}
            loss = policy_loss + settings.value_coef * value_loss
            if settings.entropy_coef:  # at 0 it would cost a tenth of the backward pass, and change nothing
                losses["entropy"] = -policy.entropy().mean()
                loss = loss + settings.entropy_coef * losses["entropy"]
            if dbg:
                kept: dict[str, Any] = {name: each for name, each in batch.items() if isinstance(each, Tensor)}
                dbg.rollout(**kept, value=seen, logp=logp.detach().reshape(seen.shape))
                dbg.update(loss=losses, logp_new=logp, value=value, target=target, advantage=adv, dist=policy.torch())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if model.norm is not None:  # after learning: acting and learning saw the same normalisation
                model.norm.update(flat["obs"])

        # Once per iteration, and of its last update: reading numbers at every step would make the host wait each time.
        with torch.no_grad():
            kl = policy.detach().kl(model.policy(flat["obs"])).mean()  # how far the step went: nothing in A2C limits it
            run.log(kl=kl, entropy=policy.entropy().mean(), value_loss=value_loss, lr=optimizer.param_groups[0]["lr"])

    @torch.inference_mode()
    def act(obs: Any) -> Any:
        policy = model.policy(as_tensor(space, obs, device))
        return policy.to_env(policy.mode())

    return act


class FlatRMSprop(torch.optim.Optimizer):
    """`clip_grad_norm_` and torch's RMSprop over all parameters in one go: they and their gradients become views of one
    long tensor. At a step every few rows, visiting a dozen small tensors one by one takes as long as backward().

    The parameters must be on their device before, and stay there: one that is moved is no view any more.
    """

    def __init__(
        self, parameters: Iterable[nn.Parameter], *, lr: float, alpha: float, eps: float, max_grad_norm: float
    ) -> None:
        super().__init__(parameters, {"lr": lr, "alpha": alpha, "eps": eps, "max_grad_norm": max_grad_norm})
        views: list[nn.Parameter] = self.param_groups[0]["params"]
        sizes = [each.numel() for each in views]
        self.weights = torch.cat([each.detach().flatten() for each in views])
        self.grads, self.squares = torch.zeros_like(self.weights), torch.zeros_like(self.weights)
        pieces = zip(torch.split(self.weights, sizes), torch.split(self.grads, sizes), strict=True)
        for view, (weights, grads) in zip(views, pieces, strict=True):
            view.data = weights.view_as(view)
            view.grad = grads.view_as(view)

    def zero_grad(self, set_to_none: bool = False) -> None:
        self.grads.zero_()  # in place: where a gradient is None, backward() makes a tensor of its own

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        group, grads = self.param_groups[0], self.grads
        norm = torch.linalg.vector_norm(grads)
        grads.mul_((group["max_grad_norm"] / (norm + 1e-6)).clamp_(max=1.0))
        self.squares.mul_(group["alpha"]).addcmul_(grads, grads, value=1 - group["alpha"])
        self.weights.addcdiv_(grads, self.squares.sqrt().add_(group["eps"]), value=-group["lr"])

    def state_dict(self) -> dict[str, Any]:
        return {"squares": self.squares, "lr": self.param_groups[0]["lr"]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.squares.copy_(state_dict["squares"])
        self.param_groups[0]["lr"] = state_dict["lr"]
