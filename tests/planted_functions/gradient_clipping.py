"""Gradient clipping, as people write it."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from tests.planted_functions import right, wrong


@right()
def by_torch(model, max_grad_norm):
    nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)


@right()
def by_hand(parameters, max_norm):
    parameters = [p for p in parameters if p.grad is not None]
    total = 0.0
    for p in parameters:
        total += p.grad.data.norm(2).item() ** 2
    total = total**0.5
    if total > max_norm:
        for p in parameters:
            p.grad.data.mul_(max_norm / (total + 1e-6))
    return total


@right()
def by_value(net, clip_value):
    for p in net.parameters():
        if p.grad is not None:
            p.grad.data.clamp_(-clip_value, clip_value)


@right()
def over_arrays(grads, clip):
    norm = np.sqrt(sum(np.sum(np.square(g)) for g in grads))
    return [g * min(1.0, clip / (norm + 1e-12)) for g in grads]


@right()
def of_an_optimizer(optimizer, max_norm):
    everything = [p for group in optimizer.param_groups for p in group["params"]]
    return nn.utils.clip_grad_norm_(everything, max_norm)


@right()
def method(self):
    norm = torch.stack([p.grad.norm() for p in self.actor.parameters() if p.grad is not None]).norm()
    coef = torch.clamp(self.max_grad_norm / (norm + 1e-6), max=1.0)
    for p in self.actor.parameters():
        if p.grad is not None:
            p.grad *= coef


@right()
def dqn_tutorial(policy_net, grad_clip):
    torch.nn.utils.clip_grad_value_(policy_net.parameters(), grad_clip)


@wrong("gradient-clipping-no-effect")
def rebinds(parameters, max_norm):
    norm = torch.cat([p.grad.flatten() for p in parameters if p.grad is not None]).norm()
    for p in parameters:
        g = p.grad
        if norm > max_norm:
            g = g * max_norm / norm


@wrong("gradient-clipping-per-parameter")
def layer_by_layer(model, max_norm):
    for p in model.parameters():
        nn.utils.clip_grad_norm_([p], max_norm)


@wrong("gradient-clipping-always-scales")
def no_minimum(params, max_norm):
    params = [p for p in params if p.grad is not None]
    norm = torch.sqrt(sum((p.grad**2).sum() for p in params))
    for p in params:
        p.grad *= max_norm / (norm + 1e-8)


@wrong("gradient-clipping-norm-not-rooted")
def no_root(gradients, max_norm):
    norm = sum(float((g**2).sum()) for g in gradients)
    if norm > max_norm:
        return [g * (max_norm / norm) for g in gradients]
    return list(gradients)


@wrong("gradient-clipping-norms-added")
def sum_of_norms(network, clip_norm):
    norm = 0.0
    for p in network.parameters():
        if p.grad is not None:
            norm += p.grad.norm().item()
    if norm > clip_norm:
        for p in network.parameters():
            if p.grad is not None:
                p.grad.mul_(clip_norm / norm)


@wrong("gradient-clipping-condition-inverted")
def other_way_round(self, max_grad_norm):
    grads = [p.grad for p in self.policy.parameters() if p.grad is not None]
    norm = torch.norm(torch.stack([g.norm() for g in grads]))
    if 0 < norm < max_grad_norm:
        for g in grads:
            g.mul_(max_grad_norm / norm)


@wrong("gradient-clipping-scale-inverted")
def norm_over_limit(parameters, threshold):
    norm = np.sqrt(sum(float(p.grad.pow(2).sum()) for p in parameters if p.grad is not None))
    if norm > threshold:
        for p in parameters:
            if p.grad is not None:
                p.grad.mul_(norm / threshold)


@wrong("gradient-clipping-limit-missing")
def to_unit_length(optimizer, max_norm):
    ps = [p for g in optimizer.param_groups for p in g["params"] if p.grad is not None]
    norm = torch.linalg.vector_norm(torch.cat([p.grad.ravel() for p in ps]))
    if norm > max_norm:
        for p in ps:
            p.grad.div_(norm)


@wrong("gradient-clipping-by-value")
def named_norm(critic, max_grad_norm):
    nn.utils.clip_grad_value_(critic.parameters(), max_grad_norm)


@wrong("gradient-clipping-one-sided")
def only_from_above(model, clip_value):
    for p in model.parameters():
        if p.grad is not None:
            p.grad.clamp_(max=clip_value)


@wrong("gradient-clipping-norm-of-one")
def overwritten_in_the_loop(params, max_norm):
    for p in params:
        total = p.grad.norm()
    for p in params:
        if total > max_norm:
            p.grad.mul_(max_norm / total)


@wrong("gradient-clipping-clips-weights")
def wgan_like(critic, clip_value):
    for p in critic.parameters():
        p.data.clamp_(-clip_value, clip_value)


@wrong("gradient-clipping-norm-averaged")
def mean_of_squares(grads, max_norm):
    flat = torch.cat([g.reshape(-1) for g in grads])
    size = (flat**2).mean().sqrt()
    return [g * torch.clamp(max_norm / (size + 1e-6), max=1) for g in grads]


@wrong("gradient-clipping-first-only")
def returns_in_the_loop(parameters, max_norm):
    norm = torch.stack([p.grad.norm() for p in parameters if p.grad is not None]).norm()
    scale = min(1.0, max_norm / (float(norm) + 1e-6))
    for p in parameters:
        p.grad.mul_(scale)
        return norm


@wrong("gradient-clipping-always-scales", "gradient-clipping-norm-not-rooted")
def neither_root_nor_minimum(net, max_norm):
    ps = [p for p in net.parameters() if p.grad is not None]
    norm = sum((p.grad**2).sum() for p in ps)
    for p in ps:
        p.grad.mul_(max_norm / (norm + 1e-10))


@wrong("gradient-clipping-norms-added", "gradient-clipping-limit-missing")
def added_and_unit(parameters, max_norm):
    total = sum(float(p.grad.norm()) for p in parameters if p.grad is not None)
    for p in parameters:
        if total > max_norm and p.grad is not None:
            p.grad /= total


@wrong("gradient-clipping-mismatch")
def squashes(model, max_norm):
    for p in model.parameters():
        if p.grad is not None:
            p.grad.copy_(torch.tanh(p.grad) * max_norm)
