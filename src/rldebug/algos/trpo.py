"""Trust region policy optimisation (Schulman and others, 2015), with GAE, for discrete and continuous actions.

Read it top to bottom: the settings, the networks, the step within the trust region, then `train`: act, work out
advantages, take one step of the policy that is as long as the KL limit allows, fit the critic, and check that what TRPO
promises was kept. The details that decide whether it learns are named where they are.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from torch import Tensor, nn

from rldebug.checkpoint import TrainingError
from rldebug.parts.buffers import RolloutBuffer
from rldebug.parts.distributions import ActionDistribution
from rldebug.parts.heads import Intake, Output, as_tensor, mlp
from rldebug.parts.nested import stack
from rldebug.parts.normalise import ReturnScale, RunningNorm
from rldebug.parts.returns import gae
from rldebug.training import Training


@dataclass(frozen=True)
class Settings:
    envs: int = 8  # environments side by side; their samples are less alike than those of one
    steps: int = 256  # steps in each environment between two steps of the policy
    gamma: float = 0.99  # how much a reward one step later counts
    lam: float = 0.97  # GAE's λ: 0 trusts the critic alone, 1 the sampled returns alone
    max_kl: float = 0.01  # the trust region: mean KL(old ‖ new) that one step of the policy may not exceed
    cg_steps: int = 10  # rounds of conjugate gradient, each one Fisher-vector product
    damping: float = 0.1  # added to the diagonal of the Fisher matrix: steadier steps, and shorter ones
    tries: int = 10  # lengths that the line search tries before it gives the step up
    shrink: float = 0.8  # from one try to the next
    value_lr: float = 1e-3  # Adam's step size for the critic
    value_epochs: int = 10  # passes of the critic over each batch
    value_minibatch: int = 128  # rows per gradient step of the critic
    normalise_obs: bool = True  # vectors, by running mean and deviation, clipped at ±5
    scale_reward: bool = False  # by the running deviation of the discounted return
    log_std: float = 0.0  # where the logarithm of a continuous policy's deviation starts
    hidden: tuple[int, ...] = (64, 64)  # widths of the hidden layers, of the policy and of the critic


class Policy(nn.Module):
    """From observations, normalised, to a distribution over actions.

    A network of its own, whose `parameters()` are what the trust region is about. A natural gradient of the policy does
    not fit a list with the critic's parameters in it ("size of tensor a must match …"), and must not move those.
    """

    def __init__(self, observation_space: gym.Space[Any], action_space: gym.Space[Any], settings: Settings) -> None:
        super().__init__()
        self.intake = Intake(observation_space, hidden=settings.hidden)
        # The last layer is zero: all actions equally likely at first, the most entropy there is.
        self.output = Output(action_space, self.intake.width, log_std=settings.log_std)

    def forward(self, obs: Any) -> ActionDistribution:
        distribution: ActionDistribution = self.output(self.intake(obs))
        return distribution


class Critic(nn.Module):
    """From observations, normalised, to values `(N,)`."""

    def __init__(self, observation_space: gym.Space[Any], settings: Settings) -> None:
        super().__init__()
        self.intake = Intake(observation_space, hidden=settings.hidden)
        self.output = mlp([self.intake.width, 1])

    def forward(self, obs: Any) -> Tensor:
        # (N, 1) against targets of (N,) would broadcast to (N, N) in the loss, silently: drop the axis here.
        value: Tensor = self.output(self.intake(obs)).squeeze(-1)
        return value


# ── the step within the trust region ──


def flat(tensors: Sequence[Tensor]) -> Tensor:
    return torch.cat([tensor.reshape(-1) for tensor in tensors])


def write(parameters: Sequence[nn.Parameter], values: Tensor) -> None:
    """Set the parameters to flat `values`: of the very list that `flat` was called with, in its order."""
    for parameter, part in zip(parameters, torch.split(values, [p.numel() for p in parameters]), strict=True):
        # New memory, not copy_: a Gaussian's log-std is the parameter itself, and the old policy's is the same memory,
        # detached. Written to, it would move along, and the KL would not see it.
        parameter.data = part.view_as(parameter).clone()


def fisher_vector_product(kl: Tensor, parameters: Sequence[nn.Parameter], damping: float) -> Callable[[Tensor], Tensor]:
    """v ↦ (F + damping · I) v. F is the Hessian of the mean KL(old ‖ new) at new = old. It is never built: the gradient
    of (gradient · v) is Hv."""
    # create_graph: what is computed here is differentiated once more.
    gradient = flat(torch.autograd.grad(kl, parameters, create_graph=True))

    def product(vector: Tensor) -> Tensor:
        return flat(torch.autograd.grad(gradient @ vector, parameters, retain_graph=True)) + damping * vector

    return product


def conjugate_gradient(product: Callable[[Tensor], Tensor], b: Tensor, rounds: int) -> Tensor:
    """x with product(x) ≈ b. A fixed number of rounds, since to look at the residual would make the host wait."""
    x, residual, direction = torch.zeros_like(b), b.clone(), b.clone()
    squared = residual @ residual
    for _ in range(rounds):
        curved = product(direction)
        # What is solved exactly has a residual of 0, and 0/0 without the tiny number.
        length = squared / (direction @ curved + _TINY)
        x += length * direction
        residual -= length * curved
        before, squared = squared, residual @ residual
        direction = residual + squared / (before + _TINY) * direction
    return x


@dataclass(frozen=True)
class Step:
    accepted: bool
    kl: Tensor  # mean KL(old ‖ new) on the whole batch, of the policy that is now in place
    tries: int
    old: ActionDistribution
    logp: Tensor  # of the actions, by the old policy; with its graph
    surrogate: Tensor  # at the old policy; with its graph


def trust_region_step(
    policy: Callable[[Any], ActionDistribution],
    parameters: Sequence[nn.Parameter],
    obs: Any,
    action: Any,
    advantage: Tensor,
    settings: Settings,
) -> Step:
    """Move `parameters`, those of `policy`, to where the surrogate is higher and the mean KL is within the limit."""
    new = policy(obs)
    old, logp = new.detach(), new.log_prob(action)
    logp_old = logp.detach()
    # E[π_new/π_old · A]. Its value here is the mean advantage; its gradient is the policy gradient.
    surrogate = ((logp - logp_old).exp() * advantage).mean()
    gradient = flat(torch.autograd.grad(surrogate, parameters, retain_graph=True))
    # The mean: the KL is one number per row, and autograd differentiates a scalar.
    product = fisher_vector_product(old.kl(new).mean(), parameters, settings.damping)
    direction = conjugate_gradient(product, gradient, settings.cg_steps)
    # KL ≈ ½ stepᵀ F step near the old policy: the length at which that is the limit. Only near: hence the line search.
    step = direction * (2 * settings.max_kl / (direction @ product(direction)).clamp(min=_TINY)).sqrt()

    before = flat(parameters).detach()
    for i in range(settings.tries):
        write(parameters, before + settings.shrink**i * step)
        with torch.no_grad():
            kl, improvement = moved(policy(obs), old, logp_old, action, advantage)
        # Both: improvement without the limit leaves the region where the surrogate is right. NaN fails both. Here the
        # host waits for the device, once per try: it has to know.
        if bool((kl <= settings.max_kl) & (improvement > 0)):
            return Step(True, kl, i + 1, old, logp, surrogate)
    write(parameters, before)
    return Step(False, torch.zeros_like(kl), settings.tries, old, logp, surrogate)


def moved(
    new: ActionDistribution, old: ActionDistribution, logp_old: Tensor, action: Any, advantage: Tensor
) -> tuple[Tensor, Tensor]:
    """Mean KL(old ‖ new), exact, and the improvement E[(π_new/π_old − 1) · A]: no difference of two rounded means."""
    return old.kl(new).mean(), ((new.log_prob(action) - logp_old).expm1() * advantage).mean()


def broken_promises(accepted: bool, kl: float, improvement: float, limit: float) -> list[str]:
    """What TRPO promises, held against the policy as it is at the end of an iteration: a line here means a bug."""
    found = []
    if not accepted and not kl <= _ROUNDING:
        found.append(f"the step was rejected, but the policy has changed: KL(old ‖ new) is {kl:.3g}")
    if accepted and not kl <= limit * (1 + _ROUNDING):
        found.append(f"KL(old ‖ new) of the accepted step is {kl:.3g}, above the limit of {limit:g}")
    if accepted and not improvement > -_ROUNDING:
        found.append(f"the accepted step made the surrogate worse, by {-improvement:.3g}")
    return found


class Trend:
    """The mean return of each of the last iterations, to say whether it is rising. Not a promise: information."""

    def __init__(self) -> None:
        self.returns: list[float] = []

    def add(self, finished: Sequence[tuple[float, int]]) -> None:
        """Return and length of every episode that ended in an iteration."""
        if finished:
            mean = math.fsum(returned for returned, _ in finished) / len(finished)
            self.returns = [*self.returns, mean][-_LAST:]

    def rise(self) -> float:
        """Mean of the later half less that of the earlier one; 0 before there is enough to tell."""
        half = len(self.returns) // 2
        return 0.0 if half < 2 else float(np.mean(self.returns[-half:]) - np.mean(self.returns[:half]))

    def state_dict(self) -> dict[str, Any]:
        return {"returns": list(self.returns)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.returns = list(state["returns"])


_TINY = 1e-30  # well inside float32
_ROUNDING = 1e-5  # the same sum, computed twice on a GPU, may differ a little
_LAST = 20  # iterations


def train(run: Training, settings: Settings) -> Callable[[Any], Any]:
    if settings.max_kl <= 0:
        raise TrainingError(f"max_kl is {settings.max_kl}, expected above 0: no step is short enough otherwise")
    run.every_line = True
    envs = run.envs(settings.envs)
    space, device = envs.single_observation_space, run.device
    policy = Policy(space, envs.single_action_space, settings).to(device)
    critic = Critic(space, settings).to(device)
    # Vectors only: pixels have a scale of their own, and choices have none.
    vector = isinstance(space, gym.spaces.Box) and len(space.shape) == 1
    norm = RunningNorm(space.shape or ()).to(device) if vector and settings.normalise_obs else nn.Identity()
    # The policy has no optimizer: its step is worked out. fused: one kernel for all of the critic's parameters.
    parameters = list(policy.parameters())
    optimizer = torch.optim.Adam(critic.parameters(), lr=settings.value_lr, fused=True)
    scale, trend = ReturnScale(settings.envs, gamma=settings.gamma), Trend()
    buffer = RolloutBuffer(
        settings.steps, space, envs.single_action_space, envs=settings.envs, extras=(), device=device
    )
    obs = run.begin(policy=policy, critic=critic, norm=norm, optimizer=optimizer, scale=scale, trend=trend)
    dbg = run.watch(policy=policy, critic=critic, optimizer=optimizer, gamma=settings.gamma)

    for _ in run.iterations(settings.envs * settings.steps):
        # ── act: no gradients, numpy for the environments; what is learned from is computed anew below, with a graph ──
        buffer.clear()
        cut_off: list[tuple[int, int, Any]] = []  # episodes that ran out of time: step, environment, last observation
        with torch.inference_mode():
            for t in range(settings.steps):
                acting = policy(norm(as_tensor(space, obs, device)))
                action = acting.sample()
                # What is stored is the action as sampled, since its probability is needed; the environment gets it
                # clipped to its bounds.
                next_obs, reward, terminated, truncated, info = envs.step(acting.to_env(action))
                buffer.add(obs=obs, action=action, reward=reward, terminated=terminated, truncated=truncated)
                for i in np.flatnonzero(truncated & ~terminated):
                    cut_off.append((t, int(i), info["final_obs"][i]))
                obs = next_obs
        trend.add(envs.finished)

        # ── targets, from the critic as it was while acting ──
        batch = buffer.rollout()  # (steps, envs, …)
        rows = RolloutBuffer.flatten(batch)
        with torch.no_grad():
            seen = norm(rows["obs"])  # once, with the statistics that acting used, for all that follows
            value = critic(seen).reshape(settings.steps, settings.envs)
            last_value = critic(norm(as_tensor(space, obs, device)))
            final_value = torch.zeros_like(value)
            if cut_off:  # an episode that ran out of time would have gone on: its last value stands for the rest
                steps, where, final_obs = zip(*cut_off, strict=True)
                final_value[list(steps), list(where)] = critic(norm(as_tensor(space, stack(final_obs), device)))
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
            # The step's length is set by the KL limit, not by the advantages, but their scale decides how much the
            # damping counts: one scale for all tasks.
            advantage = ((advantage - advantage.mean()) / (advantage.std() + 1e-8)).flatten()

        # ── the policy: one step, on the whole batch ──
        step = trust_region_step(policy, parameters, seen, rows["action"], advantage, settings)
        logp_old = step.logp.detach()
        if dbg:
            plain: dict[str, Any] = {name: part for name, part in batch.items() if isinstance(part, Tensor)}
            if isinstance(seen, Tensor):  # not a dict or a tuple; and what the networks saw, not what was stored
                plain["obs"] = seen.reshape(*value.shape, *seen.shape[1:])
            dbg.rollout(**plain, value=value, logp=logp_old.reshape(value.shape))
            dbg.update(
                loss={"policy": -step.surrogate},
                logp_old=logp_old,
                logp_new=step.logp,
                advantage=advantage,
                dist=step.old.torch(),
                kl=step.kl,
                kl_limit=settings.max_kl,
            )

        # ── the critic: regression on the same batch, after the policy's step, which used its values as they were ──
        losses = []
        for _epoch in range(settings.value_epochs):
            for mb in RolloutBuffer.minibatches({"obs": seen, "target": target.flatten()}, settings.value_minibatch):
                # Predicted anew, with a graph: values that went through numpy while acting could not be learned from.
                predicted = critic(mb["obs"])
                loss = (predicted - mb["target"]).square().mean()
                if dbg:
                    dbg.update(loss={"value": loss}, value=predicted, target=mb["target"])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses.append(loss.detach())

        # ── what was promised, held against the policy as it now is, on the whole batch ──
        with torch.no_grad():
            kl, improvement = moved(policy(seen), step.old, logp_old, rows["action"], advantage)
            run.log(
                kl=kl,
                improvement=improvement,
                accepted=float(step.accepted),
                tries=step.tries,
                entropy=step.old.entropy().mean(),
                value_loss=torch.stack(losses).mean(),  # of all minibatches, not of the last one
                rise=trend.rise(),
            )
            for promise in broken_promises(step.accepted, float(kl), float(improvement), settings.max_kl):
                print(f"warning: trpo, iteration {run.iteration + 1}: {promise}", file=sys.stderr)
        if isinstance(norm, RunningNorm):  # last: the old policy, the new one and the checks saw the same normalisation
            norm.update(rows["obs"])

    @torch.inference_mode()
    def act(obs: Any) -> Any:
        acting = policy(norm(as_tensor(space, obs, device)))
        return acting.to_env(acting.mode())

    return act
