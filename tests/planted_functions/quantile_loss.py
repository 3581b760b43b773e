"""Quantile losses, as people write them."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F

from tests.planted_functions import right, wrong

# ── sound ──


@right()
def sb3_contrib_like(current_quantiles, target_quantiles, cum_prob=None, sum_over_quantiles=True):
    n_quantiles = current_quantiles.shape[-1]
    if cum_prob is None:
        cum_prob = (torch.arange(n_quantiles, dtype=torch.float) + 0.5) / n_quantiles
        cum_prob = cum_prob.view(1, -1, 1)
    else:
        cum_prob = cum_prob.view(-1, n_quantiles, 1)
    pairwise_delta = target_quantiles.unsqueeze(-2) - current_quantiles.unsqueeze(-1)
    abs_delta = torch.abs(pairwise_delta)
    huber = torch.where(abs_delta > 1, abs_delta - 0.5, pairwise_delta**2 * 0.5)
    loss = torch.abs(cum_prob - (pairwise_delta.detach() < 0).float()) * huber
    return loss.sum(dim=-2).mean() if sum_over_quantiles else loss.mean()


@right()
def fractions_given(quantiles, targets, taus, kappa):
    u = targets[:, None, :] - quantiles[:, :, None]
    huber = F.huber_loss(u, torch.zeros_like(u), reduction="none", delta=kappa)
    weight = (taus[..., None] - (u < 0).float()).abs()
    return (weight * huber / kappa).sum(1).mean(1)


@right()
def by_hand(theta, target, kappa=1.0):
    rows, n, m = len(theta), len(theta[0]), len(target[0])
    total = 0.0
    for b in range(rows):
        for i in range(n):
            tau = (2 * i + 1) / (2 * n)
            for j in range(m):
                u = target[b][j] - theta[b][i]
                h = 0.5 * u * u if abs(u) <= kappa else kappa * (abs(u) - 0.5 * kappa)
                total += abs(tau - (u < 0)) * h / kappa
    return total / (rows * n * m)


class Agent:
    @right()
    def by571_like(self, quantiles_expected, quantiles_target):
        td_error = quantiles_target.unsqueeze(1) - quantiles_expected.unsqueeze(2)
        n = quantiles_expected.shape[1]
        tau = torch.linspace(0.0, 1.0 - 1.0 / n, n) + 0.5 / n
        loss = torch.where(td_error.abs() <= 1.0, 0.5 * td_error.pow(2), td_error.abs() - 0.5)
        quantil_l = abs(tau.view(1, -1, 1) - (td_error.detach() < 0).float()) * loss
        return quantil_l.sum(dim=1).mean(dim=1).mean()


by571_like = Agent.by571_like


@right()
def targets_first(pred, target, tau):
    u = target[:, :, None] - pred[:, None, :]
    weight = np.abs(tau[None, None, :] - (u < 0))
    huber = np.where(np.abs(u) <= 1, 0.5 * u**2, np.abs(u) - 0.5)
    return (weight * huber).mean(axis=1).sum(axis=1).mean()


@right()
def without_huber(quantiles, target_quantiles, taus):
    u = target_quantiles.unsqueeze(1) - quantiles.unsqueeze(2)
    tau = taus.reshape(-1, quantiles.shape[1], 1)
    return torch.max(tau * u, (tau - 1) * u).sum(1).mean(1).mean()


@right()
def of_errors(td_errors, taus, kappa=1.0):
    huber = torch.where(td_errors.abs() <= kappa, 0.5 * td_errors.pow(2), kappa * (td_errors.abs() - 0.5 * kappa))
    return ((taus[..., None] - (td_errors.detach() < 0).float()).abs() * huber / kappa).sum(dim=1).mean(dim=1)


# ── wrong ──


def _huber(u, k=1.0):
    return torch.where(u.abs() <= k, 0.5 * u**2, k * (u.abs() - 0.5 * k))


def _middles(n):
    return (torch.arange(n) + 0.5) / n


@wrong("quantile-loss-tau-of-target")
def other_axis(quantiles, targets, tau):
    u = targets.unsqueeze(1) - quantiles.unsqueeze(2)
    return ((tau - (u < 0).float()).abs() * _huber(u)).sum(1).mean(1).mean()


@wrong("quantile-loss-indicator-reversed")
def turned_over(quantiles, targets):
    u = quantiles.unsqueeze(2) - targets.unsqueeze(1)
    tau = _middles(quantiles.shape[1]).view(1, -1, 1)
    return (abs(tau - (u.detach() < 0).float()) * _huber(u)).mean()


@wrong("quantile-loss-weight-signed")
def pushed_away(theta, theta_target, taus, kappa):
    u = theta_target[:, None] - theta[:, :, None]
    return ((taus[..., None] - (u < 0).float()) * _huber(u, kappa) / kappa).mean(2).sum(1).mean()


@wrong("quantile-loss-not-weighed")
def all_alike(quantiles, targets, taus):
    u = targets[:, None] - quantiles[:, :, None]
    return F.smooth_l1_loss(u, torch.zeros_like(u), reduction="none").sum(1).mean(1).mean()


@wrong("quantile-loss-indicator-missing")
def both_sides_alike(quantiles, targets):
    u = targets[:, None] - quantiles[:, :, None]
    return (_middles(quantiles.shape[1])[None, :, None] * _huber(u)).sum(1).mean(1).mean()


@wrong("quantile-loss-not-pairwise")
def one_by_one(quantiles, target_quantiles):
    u = target_quantiles - quantiles
    weight = (_middles(quantiles.shape[1]) - (u < 0).float()).abs()
    return (weight * _huber(u)).mean()


@wrong("quantile-loss-fractions-shifted")
def from_zero(pred, target):
    n = pred.shape[1]
    u = target[:, None, :] - pred[:, :, None]
    tau = np.arange(n)[None, :, None] / n
    huber = np.where(np.abs(u) <= 1, 0.5 * u**2, np.abs(u) - 0.5)
    return (np.abs(tau - (u < 0)) * huber).mean()


@wrong("quantile-loss-always-squared")
def expectiles(quantiles, targets, tau):
    u = targets[:, None] - quantiles[:, :, None]
    return ((tau[..., None] - (u < 0).float()).abs() * 0.5 * u.pow(2)).mean()


@wrong("quantile-loss-half-missing")
def twice_near_zero(quantiles, targets, tau):
    u = targets[:, None] - quantiles[:, :, None]
    huber = torch.where(u.abs() <= 1, u**2, u.abs() - 0.5)
    return ((tau[..., None] - (u < 0).float()).abs() * huber).mean(2).sum(1)


@wrong("quantile-loss-sign-flipped")
def climbs(quantiles, targets, tau):
    u = targets[:, None] - quantiles[:, :, None]
    return -((tau[..., None] - (u < 0).float()).abs() * _huber(u)).sum(1).mean()


@wrong("quantile-loss-weight-signed", "quantile-loss-half-missing")
def two_slips(quantiles, targets, tau):
    u = targets[:, None] - quantiles[:, :, None]
    huber = torch.where(u.abs() <= 1, u**2, u.abs() - 0.5)
    return ((tau[..., None] - (u < 0).float()) * huber).sum(1).mean()


@wrong("quantile-loss-indicator-reversed", "quantile-loss-fractions-shifted")
def two_others(quantiles, targets):
    n = quantiles.shape[1]
    u = quantiles.unsqueeze(2) - targets.unsqueeze(1)
    tau = (torch.arange(1, n + 1) / n).view(1, -1, 1)
    return (abs(tau - (u.detach() < 0).float()) * _huber(u)).sum(1).mean()


@wrong("quantile-loss-mismatch")
def sorted_first(quantiles, targets):
    return (quantiles.sort(1).values - targets.sort(1).values).abs().max()


@right()
def shaped_by_the_caller(current_q, target_q, tau):
    huber = F.huber_loss(current_q, target_q, reduction="none", delta=1.0)
    return ((tau - ((target_q - current_q).detach() < 0).float()).abs() * huber).mean()
