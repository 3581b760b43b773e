"""What acting produced: rewards, endings, observations, actions."""

from __future__ import annotations

import torch
from torch import Tensor

from rldebug.metric import metric
from rldebug.metrics.batch import hash_weights
from rldebug.metrics.value import moments
from rldebug.rollout import Rollout


@metric(
    "reward/mean", "reward/std", "reward/min", "reward/max",
    unit="reward", reads=Rollout, needs=("reward",), healthy="as the environment's designer expects",
)  # fmt: skip
def reward(rollout: Rollout) -> tuple[Tensor, ...]:
    """Distribution of the rewards in a rollout. The mean is the reward per step."""
    assert rollout.reward is not None
    return moments(rollout.reward)


@metric(
    "reward/per_trajectory",
    unit="reward",
    reads=Rollout,
    needs=("reward", "terminated"),
    healthy="rises, steeply at first",
)
def reward_per_trajectory(rollout: Rollout) -> Tensor:
    """Total reward of the rollout divided by the episodes that ended in it: the mean return, in the long run, without
    waiting for the device. NaN where none ended."""
    assert rollout.reward is not None and rollout.terminated is not None
    ends = rollout.terminated.bool()
    if rollout.truncated is not None:
        ends = ends | rollout.truncated.bool()
    count = ends.sum()
    return torch.where(count > 0, rollout.reward.float().sum() / count, float("nan"))


@metric("rollout/terminated", unit="share of steps", reads=Rollout, needs=("terminated",), healthy="1 / episode length")
def terminated(rollout: Rollout) -> Tensor:
    """Share of the steps that ended in a termination."""
    assert rollout.terminated is not None
    return rollout.terminated.float().mean()


@metric("rollout/truncated", unit="share of steps", reads=Rollout, needs=("truncated",), healthy="low")
def truncated(rollout: Rollout) -> Tensor:
    """Share of the steps that ended in a truncation."""
    assert rollout.truncated is not None
    return rollout.truncated.float().mean()


@metric(
    "rollout/ends_both",
    unit="share of endings",
    reads=Rollout,
    needs=("terminated", "truncated"),
    healthy="0 or nearly",
)
def ends_both(rollout: Rollout) -> Tensor:
    """Share of the endings that are flagged as terminated *and* truncated. NaN where nothing ended."""
    assert rollout.terminated is not None and rollout.truncated is not None
    one, two = rollout.terminated.bool(), rollout.truncated.bool()
    return (one & two).sum() / (one | two).sum()


@metric("rollout/steps", unit="env steps", reads=Rollout, needs=("reward",), healthy="steady")
def steps(rollout: Rollout) -> int:
    """Steps in the rollout, over all environments."""
    assert rollout.reward is not None
    return rollout.reward.numel()


@metric("rollout/reward_sum", unit="reward", reads=Rollout, needs=("reward",), healthy="rises")
def reward_sum(rollout: Rollout) -> Tensor:
    """Total reward in the rollout."""
    assert rollout.reward is not None
    return rollout.reward.double().sum() if rollout.reward.device.type != "mps" else rollout.reward.float().sum()


@metric("rollout/fingerprint", unit="hash", reads=Rollout, needs=("obs",), healthy="never the same twice")
def fingerprint(rollout: Rollout) -> Tensor:
    """A weighted sum of the observations, equal for equal rollouts."""
    assert rollout.obs is not None
    flat = rollout.obs.reshape(-1)
    stride = max(flat.numel() // 4096, 1)
    flat = flat[::stride].float()
    return torch.dot(flat, hash_weights(flat.numel(), flat.device))


@metric(
    "rollout/lockstep",
    unit="share of environments",
    reads=Rollout,
    needs=("obs", "reward"),
    healthy="0",
)
def lockstep(rollout: Rollout) -> Tensor | None:
    """Share of the environments whose observations and rewards equal another one's at every step of the rollout."""
    assert rollout.obs is not None and rollout.reward is not None
    steps, envs = rollout.reward.shape
    if envs < 2 or steps < 8:
        return None
    obs = rollout.obs.reshape(steps, envs, -1)[..., :64].float()
    same = (obs[:, 1:] == obs[:, :-1]).all(-1).all(0) & (rollout.reward[:, 1:] == rollout.reward[:, :-1]).all(0)
    # Observations that never change say nothing: bandit-like environments are alike without being copies.
    moving = (obs[1:] != obs[:-1]).any()
    return (same & moving).float().mean()


@metric(
    "obs/mean", "obs/std", "obs/min", "obs/max",
    unit="observation", reads=Rollout, needs=("obs",), healthy="about 1 in size",
)  # fmt: skip
def observations(rollout: Rollout) -> tuple[Tensor, ...]:
    """Distribution of all observation entries of a rollout."""
    assert rollout.obs is not None
    return moments(rollout.obs)


@metric(
    "obs/constant",
    unit="share of entries",
    reads=Rollout,
    needs=("obs",),
    healthy="0, or the few entries that never change",
    detail=True,
)
def constant_entries(rollout: Rollout) -> Tensor:
    """Share of the observation's entries that had one and the same value at every step of every environment."""
    assert rollout.obs is not None
    entries = rollout.obs.reshape(rollout.obs.shape[0] * rollout.obs.shape[1], -1)
    return (entries == entries[:1]).all(0).float().mean()


@metric("action/mode_share", unit="share of steps", reads=Rollout, needs=("action",), healthy="well below 1 at first")
def action_mode_share(rollout: Rollout) -> Tensor | None:
    """Share of the steps that took the commonest action (discrete actions, up to 64 of them)."""
    assert rollout.action is not None
    if rollout.action.is_floating_point() or rollout.action.numel() != rollout.action.shape[:2].numel():
        return None
    flat = rollout.action.reshape(-1).long()
    return (flat[:, None] == torch.arange(64, device=flat.device)).float().mean(0).max()


@metric("action/std", unit="action", reads=Rollout, needs=("action",), healthy="above 0")
def action_std(rollout: Rollout) -> Tensor | None:
    """Spread of the actions taken, averaged over dimensions (continuous actions)."""
    assert rollout.action is not None
    steps = rollout.action.shape[:2].numel()
    if not rollout.action.is_floating_point() or steps < 2:
        return None
    return rollout.action.reshape(steps, -1).float().std(0).mean()


@metric(
    "rollout/value_mean", "rollout/value_std",
    unit="return", reads=Rollout, needs=("value",), healthy="rises as the return does",
)  # fmt: skip
def acting_value(rollout: Rollout) -> tuple[Tensor, Tensor]:
    """The critic's predictions at acting time. The mean value is a less noisy proxy for the return."""
    assert rollout.value is not None
    mean, std, _, _ = moments(rollout.value)
    return mean, std


@metric("rollout/logp_max", unit="nats", reads=Rollout, needs=("logp",), healthy="at most 0 for discrete actions")
def logp_max(rollout: Rollout) -> Tensor:
    """The largest log-prob of an action taken."""
    assert rollout.logp is not None
    return rollout.logp.float().max()


@metric("rollout/logp_min", unit="nats", reads=Rollout, needs=("logp",), healthy="below 0 for discrete actions")
def logp_min(rollout: Rollout) -> Tensor:
    """The smallest log-prob of an action taken."""
    assert rollout.logp is not None
    return rollout.logp.float().min()


@metric("action/fingerprint", unit="hash", reads=Rollout, needs=("action",), healthy="never the same twice")
def action_fingerprint(rollout: Rollout) -> Tensor:
    """A weighted sum of the actions taken, equal for equal sequences of actions."""
    assert rollout.action is not None
    flat = rollout.action.reshape(-1)
    flat = flat[:: max(flat.numel() // 4096, 1)].float()
    return torch.dot(flat, hash_weights(flat.numel(), flat.device))


@metric("rollout/lockstep_actions", unit="share of environments", reads=Rollout, needs=("action",), healthy="0")
def lockstep_actions(rollout: Rollout) -> Tensor | None:
    """Share of the environments that were given the same action as the one before them at every step of the rollout."""
    assert rollout.action is not None
    steps, envs = rollout.action.shape[:2]
    if envs < 2 or steps < 8:
        return None
    action = rollout.action.reshape(steps, envs, -1)
    return (action[:, 1:] == action[:, :-1]).all(-1).all(0).float().mean()


@metric("obs/still", unit="share of steps", reads=Rollout, needs=("obs",), healthy="0 or nearly", detail=True)
def still(rollout: Rollout) -> Tensor | None:
    """Share of the steps whose observation equals the one of the step before, in the same environment."""
    assert rollout.obs is not None
    steps, envs = rollout.obs.shape[:2]
    if steps < 2:
        return None
    obs = rollout.obs.reshape(steps, envs, -1)
    return (obs[1:] == obs[:-1]).all(-1).float().mean()


@metric(
    "obs/integers",
    unit="share of entries",
    reads=Rollout,
    needs=("obs",),
    healthy="1 for images and categories, about 0 for physical quantities",
    detail=True,
)
def integer_entries(rollout: Rollout) -> Tensor:
    """Share of the observation entries that are whole numbers: 1 for raw pixels, about 0 for physical quantities."""
    assert rollout.obs is not None
    flat = rollout.obs.reshape(-1)
    flat = flat[:: max(flat.numel() // 4096, 1)].float()
    return (flat == flat.round()).float().mean()


@metric("obs/entry_ratio", unit="ratio", reads=Rollout, needs=("obs",), healthy="below 100", detail=True)
def entry_ratio(rollout: Rollout) -> Tensor:
    """Largest size of any observation entry over the median size: max |x_i| / median max |x_i|, entries that are
    always 0 left out."""
    assert rollout.obs is not None
    steps, envs = rollout.obs.shape[:2]
    sizes = rollout.obs.reshape(steps * envs, -1).float().abs().amax(0)
    return sizes.max() / torch.where(sizes > 0, sizes, float("nan")).nanmedian()
