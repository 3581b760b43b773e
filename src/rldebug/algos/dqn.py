"""Deep Q-learning (Mnih and others, 2015), for discrete actions, vectors and images.

Double Q-learning, n-step returns and prioritised replay are switches. Read it top to bottom: the settings, the network,
then `train`: act greedily but for an ε of random actions, keep what happened, and on what is drawn from it fit Q(s, a)
to reward + γ max Q(s', ·). The details that decide whether it learns are named where they are.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from rldebug.checkpoint import TrainingError
from rldebug.parts.buffers import PrioritisedReplay, Replay
from rldebug.parts.ensemble import soft_update
from rldebug.parts.heads import Intake, as_tensor, is_image, mlp
from rldebug.parts.vector import Envs, true_next
from rldebug.training import Training

ITERATION = 500  # environment steps between two looks at progress and checkpoints, or a round if that is longer


@dataclass(frozen=True)
class Settings:
    envs: int = 1  # environments side by side
    buffer: int = 100_000  # transitions that are kept to learn from
    learning_starts: int = 1_000  # steps at random, in all environments together, before learning begins
    train_every: int = 4  # steps of each environment between two rounds of learning
    updates: int = 2  # gradient steps per round
    batch: int = 64  # transitions per gradient step
    lr: float = 1e-3  # Adam's step size at the start
    anneal: bool = True  # let the step size fall to zero over the run: the last policy wavers less
    gamma: float = 0.99  # how much a reward one step later counts
    tau: float = 1.0  # how far the target network moves towards the other: 1 copies it
    target_every: int = 200  # gradient steps between two such moves; 1 goes with a small tau
    epsilon_start: float = 1.0  # share of random actions at the start
    epsilon_end: float = 0.05  # and from the end of the schedule on
    epsilon_fraction: float = 0.2  # part of the run over which it falls from one to the other, linearly
    max_grad_norm: float = 10.0  # gradients longer than this are shortened to it
    double: bool = True  # choose the next action by the network, value it by the target network: less overestimation
    n_step: int = 3  # rewards in a target before it bootstraps; more carry news back faster, but news of old policies
    prioritised: bool = False  # draw transitions in proportion to their last error, not all alike
    alpha: float = 0.6  # prioritised: the power of the error; 0 draws all alike
    beta: float = 0.4  # prioritised: how far the bias of such drawing is corrected at the start; at the end it is 1
    hidden: tuple[int, ...] = (128, 128)  # widths of the hidden layers; images have convolutions and one of 512 instead


class QNetwork(nn.Module):
    """From observations to a value for each action."""

    def __init__(self, observation_space: gym.Space[Any], actions: int, hidden: tuple[int, ...]) -> None:
        super().__init__()
        intake = Intake(observation_space, hidden=() if is_image(observation_space) else hidden, activation=nn.ReLU)
        # One flat list of layers: modules inside of modules cost a quarter of a forward pass this small.
        self.net = nn.Sequential(*intake.net, *mlp([intake.width, actions], last_gain=1.0))

    def forward(self, obs: Any) -> Tensor:
        q: Tensor = self.net(obs)
        return q


def bootstrapped(q: QNetwork, target_q: QNetwork, next_obs: Any, double: bool) -> Tensor:
    """`(N,)`: the value of the best next action, by the target network."""
    next_q: Tensor = target_q(next_obs)
    if not double:
        return next_q.amax(-1)
    # The largest of several noisy values is too large on average. A second network does not share the first one's luck.
    return next_q.gather(-1, q(next_obs).argmax(-1, keepdim=True)).squeeze(-1)


def train(run: Training, settings: Settings) -> Callable[[Any], Any]:
    envs = run.envs(settings.envs)
    space, action_space, device = envs.single_observation_space, envs.single_action_space, run.device
    if not isinstance(action_space, gym.spaces.Discrete):
        raise TrainingError(
            f"dqn needs a Discrete action space, this one is {action_space}: dqn compares the values of all actions, "
            "one by one; ppo, trpo, a2c and vpg take any action space, sac takes numbers"
        )
    first, actions = int(action_space.start), int(action_space.n)
    q = QNetwork(space, actions, settings.hidden).to(device)
    # A copy that holds still: were the targets computed by `q`, every step towards them would move them too.
    target_q = copy.deepcopy(q).requires_grad_(False)
    parameters = list(q.parameters())
    # fused: one kernel for all parameters. With networks this small Adam would otherwise cost more than going backward.
    optimizer = torch.optim.Adam(parameters, lr=settings.lr, fused=True)
    replay = _replay(settings, run, envs)
    obs = run.begin(q=q, target_q=target_q, optimizer=optimizer, replay=replay)
    dbg = run.watch(critic=q, target=target_q, optimizer=optimizer, gamma=settings.gamma)

    @torch.inference_mode()
    def act(obs: Any) -> Any:
        """Greedily. Evaluation uses it as it is: with ε, returns would measure the dice too."""
        return q(as_tensor(space, obs, device)).argmax(-1).cpu().numpy() + first

    def epsilon_at(step: int) -> float:
        if step < settings.learning_starts:
            return 1.0
        along = min(step / (settings.epsilon_fraction * run.steps), 1.0) if settings.epsilon_fraction else 1.0
        return settings.epsilon_start + along * (settings.epsilon_end - settings.epsilon_start)

    per_round = settings.train_every * settings.envs  # environment steps
    rounds = max(ITERATION // per_round, 1)
    updates = max(run.steps_done // per_round - settings.learning_starts // per_round, 0) * settings.updates  # so far

    for _ in run.iterations(rounds * per_round):
        losses: list[Tensor] = []
        if settings.anneal:
            for group in optimizer.param_groups:
                group["lr"] = settings.lr * (1.0 - run.fraction)
        # For all steps at once, since each call has its price. Every environment has a coin of its own: with one for
        # all they would explore together, or not at all.
        coins = torch.rand(rounds * settings.train_every, settings.envs).numpy()
        dice = torch.randint(first, first + actions, coins.shape).numpy()
        for round_ in range(rounds):
            # ── act ──
            for t in range(round_ * settings.train_every, (round_ + 1) * settings.train_every):
                epsilon = epsilon_at(run.steps_done + t * settings.envs)
                explore = coins[t] < epsilon
                action = dice[t] if explore.all() else np.where(explore, dice[t], act(obs))
                next_obs, reward, terminated, truncated, info = envs.step(action)
                # Where an episode ended, `next_obs` is the first of the next one, and not what the action led to.
                replay.add(obs, action, reward, true_next(next_obs, info), terminated, truncated)
                obs = next_obs
            step = run.steps_done + (round_ + 1) * per_round
            if step <= settings.learning_starts:
                continue

            # ── learn ──
            for _update in range(settings.updates):
                if isinstance(replay, PrioritisedReplay):  # its bias is corrected in full by the end, when it matters
                    progress = min(step / run.steps, 1.0)
                    batch = replay.sample(settings.batch, beta=settings.beta + progress * (1.0 - settings.beta))
                else:
                    batch = replay.sample(settings.batch)
                batch_obs, batch_next = as_tensor(space, batch.obs, device), as_tensor(space, batch.next_obs, device)
                with torch.no_grad():
                    # discount: γ to the number of rewards summed, and 0 where the episode terminated. Where it only ran
                    # out of time it would have gone on: the bootstrap stays.
                    target = batch.reward + batch.discount * bootstrapped(q, target_q, batch_next, settings.double)
                value = q(batch_obs).gather(-1, (batch.action - first).unsqueeze(-1)).squeeze(-1)
                # Huber: beyond an error of 1 the gradient grows no further, and rare rewards do not tear at weights.
                if settings.prioritised:  # what is drawn more often counts less each time, or values would lean to it
                    loss = (batch.weight * F.smooth_l1_loss(value, target, reduction="none")).mean()
                else:
                    loss = F.smooth_l1_loss(value, target)
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
                    dbg.update(loss={"value": loss}, value=value, target=target, epsilon=epsilon)
                optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                nn.utils.clip_grad_norm_(parameters, settings.max_grad_norm)
                optimizer.step()
                losses.append(loss.detach())
                # Last, once the device has all its work: the tree of priorities is on the host, which has to wait here.
                if isinstance(replay, PrioritisedReplay):
                    replay.update(batch.index, (value.detach() - target).abs())
                updates += 1
                if updates % settings.target_every == 0:
                    soft_update(target_q, q, settings.tau)

        if losses:
            run.log(loss=torch.stack(losses).mean(), q=value.mean(), epsilon=epsilon)
        else:
            run.log(epsilon=epsilon)

    return act


def _replay(settings: Settings, run: Training, envs: Envs) -> Replay:
    kind = partial(PrioritisedReplay, alpha=settings.alpha) if settings.prioritised else Replay
    return kind(
        settings.buffer,
        envs.single_observation_space,
        envs.single_action_space,
        envs=settings.envs,
        n_step=settings.n_step,
        gamma=settings.gamma,
        frames=_stacked(envs.envs[0]),
        device=run.device,
        seed=run.seed,
    )


def _stacked(env: gym.Env[Any, Any]) -> int:
    """How many frames an observation stacks. Stored once each, they take an eighth of the room of obs and next_obs."""
    from gymnasium.wrappers import FrameStackObservation

    from rldebug.parts.preprocess import FrameStack

    space: Any = env.observation_space
    inner = env
    while isinstance(inner, gym.Wrapper):
        if isinstance(inner, (FrameStack, FrameStackObservation)):
            pixels = space.dtype == np.uint8 and is_image(space) and space == inner.observation_space
            return int(space.shape[0]) if pixels else 0
        inner = inner.env
    return 0
