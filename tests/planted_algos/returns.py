"""GAE step by step, right unless told otherwise: the known mistakes are switches."""

from __future__ import annotations

import torch
from torch import Tensor


def gae(
    reward: Tensor,
    value: Tensor,
    terminated: Tensor,
    truncated: Tensor,
    *,
    last_value: Tensor,
    final_value: Tensor,
    gamma: float,
    lam: float,
    leaks: bool = False,
    flags_late: bool = False,
    forward: bool = False,
    truncation_leaks: bool = False,
    last_step_again: bool = False,
    target_unmasked: bool = False,
    capped: bool = False,
) -> tuple[Tensor, Tensor]:
    """`leaks`: the sum of TD errors runs on over an end. `flags_late`: each step has the flags of the next.

    `forward`: returns are accumulated from the first step on. `truncation_leaks`: a cut-off episode is not cut.
    `last_step_again`: the rollout ends in V of its last step, not of the observation after it. `target_unmasked`: the
    critic's bootstrap is masked at an end, the λ-return that is mixed with it is not. `capped`: plain returns, whose
    powers of γ end at the fifth.
    """
    steps = len(reward)
    if flags_late:
        terminated, truncated = (torch.cat([each[1:], each[-1:]]) for each in (terminated, truncated))
    if last_step_again:
        last_value = value[-1]
    if capped:
        target = _capped(reward, terminated, truncated, last_value, final_value, gamma)
        return target - value, target
    if forward:
        return _forward(reward, value, terminated | truncated, gamma)
    advantage, target = torch.zeros_like(value), torch.zeros_like(value)
    carry, following, ahead = torch.zeros_like(last_value), last_value, last_value
    for t in reversed(range(steps)):
        cut = truncated[t] & ~terminated[t]
        if truncation_leaks:
            cut = torch.zeros_like(cut)
        going = ~(terminated[t] | cut)
        bootstrap = torch.where(cut, final_value[t], following) * ~terminated[t]
        keep = torch.ones_like(going) if leaks else going
        carry = reward[t] + gamma * bootstrap - value[t] + gamma * lam * keep * carry
        advantage[t] = carry
        mixed = (1 - lam) * following * going + lam * ahead
        ahead = reward[t] + gamma * mixed
        target[t] = ahead
        following = value[t]
    return advantage, target if target_unmasked else advantage + value


def _forward(reward: Tensor, value: Tensor, ended: Tensor, gamma: float) -> tuple[Tensor, Tensor]:
    target, running = torch.zeros_like(value), torch.zeros_like(value[0])
    for t in range(len(reward)):
        running = reward[t] + gamma * running
        target[t] = running
        running = running * ~ended[t]
    return target - value, target


def _capped(
    reward: Tensor, terminated: Tensor, truncated: Tensor, last_value: Tensor, final_value: Tensor, gamma: float
) -> Tensor:
    power = [gamma ** min(k, 5) for k in range(len(reward) + 1)]
    target = torch.zeros_like(reward)
    for start in range(len(reward)):
        going = torch.ones_like(terminated[0])
        for k, t in enumerate(range(start, len(reward))):
            target[start] += power[k] * reward[t] * going
            cut = going & truncated[t] & ~terminated[t]
            target[start] += power[k + 1] * final_value[t] * cut
            going = going & ~terminated[t] & ~truncated[t]
        target[start] += power[len(reward) - start] * last_value * going
    return target
