"""Huber losses, as people write them."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F

from tests.planted_functions import right, wrong

# ── sound ──


@right()
def of_an_error(x, delta=1.0):
    return torch.where(x.abs() < delta, 0.5 * x.pow(2), delta * (x.abs() - 0.5 * delta))


@right()
def baselines_like(x, delta):
    return np.where(np.abs(x) < delta, np.square(x) * 0.5, delta * (np.abs(x) - 0.5 * delta))


@right()
def by_torch(pred, target, beta):
    return F.smooth_l1_loss(pred, target, beta=beta)


@right()
def by_hand(y_true, y_pred, delta):
    total = 0.0
    for a, b in zip(y_true, y_pred, strict=True):
        e = abs(a - b)
        total += 0.5 * e * e if e <= delta else delta * e - 0.5 * delta * delta
    return total / len(y_true)


@right()
def without_branches(td_error, kappa):
    size = td_error.abs()
    quadratic = torch.clamp(size, max=kappa)
    return (0.5 * quadratic**2 + kappa * (size - quadratic)).sum()


@right()
def threshold_of_its_own(q_values, targets):
    return F.smooth_l1_loss(q_values, targets)


@right()
def weighed_by_masks(error, d):
    a = (abs(error) <= d).float()
    b = (abs(error) > d).float()
    return a * error**2 / 2 + b * d * (abs(error) - d / 2)


class Losses:
    @right()
    def method(self, predictions, targets):
        return F.huber_loss(predictions, targets, delta=self.huber_delta)


method = Losses.method

# ── wrong ──


@wrong("huber-half-missing")
def no_half(x, delta):
    return torch.where(x.abs() < delta, x**2, delta * (x.abs() - 0.5 * delta)).mean()


@wrong("huber-offset-missing")
def jumps(error, delta):
    size = np.abs(error)
    return np.where(size <= delta, 0.5 * size**2, delta * size)


@wrong("huber-offset-doubled")
def jumps_down(diff, delta):
    size = diff.abs()
    return torch.where(size <= delta, 0.5 * size**2, delta * (size - delta)).mean()


@wrong("huber-regions-swapped")
def swapped(y_pred, y_true, delta):
    out = []
    for p, t in zip(y_pred, y_true, strict=True):
        e = abs(p - t)
        out.append(0.5 * e**2 if e > delta else delta * (e - 0.5 * delta))
    return out


@wrong("huber-gradient-vanishes")
def clipped(pred, target, delta):
    return 0.5 * torch.clamp(pred - target, -delta, delta).pow(2).mean()


@wrong("huber-gradient-vanishes")
def clipped_to_one(td_errors):
    return (0.5 * td_errors.clamp(-1, 1) ** 2).sum()


@wrong("huber-sign-ignored")
def one_sided(x, delta):
    return torch.where(x < delta, 0.5 * x**2, delta * (x.abs() - 0.5 * delta))


@wrong("huber-slope-not-delta")
def kinked(prediction, target, delta):
    e = (prediction - target).abs()
    return torch.where(e < delta, 0.5 * e**2, e - 0.5 * delta).mean()


@wrong("huber-line-signed")
def falls_for_ever(prediction, target, delta):
    e = prediction - target
    return torch.where(e.abs() < delta, 0.5 * e**2, delta * (e - 0.5 * delta)).sum()


@wrong("huber-always-squared")
def just_squared(y_true, y_pred, delta):
    return 0.5 * F.mse_loss(y_pred, y_true)


@wrong("huber-threshold-ignored")
def always_one(error, delta):
    size = np.abs(error)
    return np.mean(np.where(size < 1.0, 0.5 * size**2, size - 0.5))


@wrong("huber-broadcast")
def crossed(pred, target, delta):
    return F.huber_loss(pred.view(-1, 1).expand(-1, len(target)), target.view(1, -1).expand(len(pred), -1), delta=delta)


@wrong("huber-square-missing")
def not_squared(x, delta):
    return torch.where(x.abs() <= delta, 0.5 * x.abs(), delta * (x.abs() - 0.5 * delta)).mean()


@wrong("huber-half-missing", "huber-offset-missing")
def bare(x, delta):
    return np.where(np.abs(x) <= delta, x**2, delta * np.abs(x))


@wrong("huber-offset-missing", "huber-regions-swapped")
def upside_down(x, delta):
    return torch.where(x.abs() <= delta, delta * x.abs(), 0.5 * x**2).sum()


@wrong("huber-mismatch")
def log_cosh(x, delta):
    return torch.log(torch.cosh(x / delta)).mean()


@wrong("huber-slope-not-delta")
def half_whatever_delta_is(td_errors, clip_loss):
    return torch.where(td_errors.abs() < clip_loss, 0.5 * td_errors.pow(2), td_errors.abs() - 0.5).mean()


@wrong("huber-negative-errors-lost")
def one_mask_too_narrow(e, d=10.0):
    a = (abs(e) <= d).float()
    b = (e > d).float()
    return a * e**2 / 2 + b * d * (abs(e) - d / 2)
