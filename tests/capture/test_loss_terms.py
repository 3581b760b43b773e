"""What is read off a loss is what was written: checked against the numbers that each formulation was made from."""

import gc
import warnings
import weakref
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import (
    Bernoulli,
    Beta,
    Categorical,
    Independent,
    MultivariateNormal,
    Normal,
    TransformedDistribution,
    kl_divergence,
)
from torch.distributions.transforms import TanhTransform

from rldebug.capture import loss_nodes
from rldebug.capture.loss_terms import Term, install, readable, terms_of
from rldebug.capture.switch import Switchboard

N, K, D = 7, 3, 2


class Batch:
    """Networks, and the data of one minibatch."""

    def __init__(self, seed: int = 0) -> None:
        torch.manual_seed(seed)
        self.policy = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, K))
        self.mean = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, D))
        self.value = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
        self.log_std = nn.Parameter(torch.full((D,), -0.3))
        self.obs = torch.randn(N, 4)
        self.action = torch.randint(0, K, (N,))
        self.move = torch.randn(N, D)
        self.advantage = torch.randn(N)
        self.target = torch.randn(N)
        self.logits = self.policy(self.obs)
        self.log_probs = self.logits.log_softmax(-1)
        self.logp = self.log_probs.gather(1, self.action[:, None]).squeeze(1)
        self.old = (self.logp + 0.2 * torch.randn(N)).detach()
        self.v = self.value(self.obs).squeeze(-1)
        self.q = self.policy(self.obs)
        self.taken = self.q.gather(1, self.action[:, None]).squeeze(1)
        self.gauss = Normal(self.mean(self.obs), self.log_std.exp().expand(N, D))


@pytest.fixture
def b() -> Batch:
    return Batch()


def only(loss: torch.Tensor, kind: str) -> Term:
    terms = terms_of(loss)
    assert [each.kind for each in terms] == [kind], terms
    return terms[0]


def close(array: np.ndarray, truth: torch.Tensor, tol: float = 2e-6) -> bool:
    return np.allclose(array, truth.detach().reshape(array.shape).numpy(), atol=tol)


def one_hot(b: Batch) -> torch.Tensor:
    return F.one_hot(b.action, K).float()


# ── policy gradients over discrete actions: (loss, sign of the coefficient times the weight) ─────────────────────────

DISCRETE = {
    "gather of log_softmax": lambda b: -(b.logp * b.advantage).mean(),
    "weight first": lambda b: (-b.advantage * b.logp).mean(),
    "Categorical(logits)": lambda b: -(Categorical(logits=b.logits).log_prob(b.action) * b.advantage).mean(),
    "Categorical(probs)": lambda b: -(Categorical(b.logits.softmax(-1)).log_prob(b.action) * b.advantage).mean(),
    "log of gathered softmax": lambda b: (
        -(b.logits.softmax(-1).gather(1, b.action[:, None]).squeeze(1).log() * b.advantage).mean()
    ),
    "log(softmax), indexed": lambda b: -(b.logits.softmax(-1).log()[torch.arange(N), b.action] * b.advantage).mean(),
    "log(softmax + eps)": lambda b: (
        -((b.logits.softmax(-1) + 1e-8).log().gather(1, b.action[:, None]).squeeze(1) * b.advantage).mean()
    ),
    "indexed log_softmax": lambda b: -(b.log_probs[range(N), b.action] * b.advantage).mean(),
    "one-hot mask": lambda b: -((b.log_probs * one_hot(b)).sum(1) * b.advantage).mean(),
    "one-hot mask, inside": lambda b: -(b.advantage * torch.sum(one_hot(b) * b.logits.log_softmax(1), dim=1)).mean(),
    "cross_entropy(none)": lambda b: (F.cross_entropy(b.logits, b.action, reduction="none") * b.advantage).mean(),
    "nll_loss(none)": lambda b: (F.nll_loss(b.log_probs, b.action, reduction="none") * b.advantage).mean(),
    "dot": lambda b: -(b.logp @ b.advantage) / N,
    "logits minus logsumexp": lambda b: (
        -((b.logits - b.logits.logsumexp(-1, keepdim=True)).gather(1, b.action[:, None])[:, 0] * b.advantage).mean()
    ),
    "logits minus log sum exp": lambda b: (
        -((b.logits - b.logits.exp().sum(1, keepdim=True).log())[range(N), b.action] * b.advantage).mean()
    ),
    "columns": lambda b: -(b.log_probs.gather(1, b.action[:, None]) * b.advantage[:, None]).mean(),
    "neg, mul, sum, div": lambda b: torch.sum(torch.mul(torch.neg(b.logp), b.advantage)) / N,
    "mean over one axis": lambda b: (-b.logp * b.advantage).mean(0),
    "take_along_dim": lambda b: (
        -(torch.take_along_dim(b.log_probs, b.action[:, None], 1).squeeze() * b.advantage).mean()
    ),
    "list of rows": lambda b: -torch.stack([b.logp[i] * b.advantage[i] for i in range(N)]).mean(),
    "cat of rows": lambda b: torch.cat([-b.logp[i : i + 1] * b.advantage[i] for i in range(N)]).mean(),
    "sum in a loop": lambda b: sum(-b.logp[i] * float(b.advantage[i]) for i in range(N)) / N,
}


@pytest.mark.parametrize("how", DISCRETE)
def test_policy_gradient_formulations(b, how):
    loss = DISCRETE[how](b)
    term = only(loss, "policy")
    assert term.scale * (term.arrays["weight"] * term.arrays["logp"]).sum() == pytest.approx(loss.item(), abs=1e-5)
    assert close(-term.coefficient * term.arrays["weight"], b.advantage)
    assert term.reduction == "mean"
    assert term.rows == N
    assert abs(term.coefficient) == pytest.approx(1)
    assert term.op == "logp"
    assert term.family == "categorical"
    assert close(term.arrays["logp"], b.logp)
    assert np.array_equal(term.arrays["index"], b.action.numpy())
    assert not term.attached["weight"]
    assert torch.equal(term.inputs[0], b.obs)
    assert term.parameters == {id(each) for each in b.policy.parameters()}


RATIOS = {
    "SB3": lambda b, r: -torch.min(b.advantage * r, b.advantage * torch.clamp(r, 0.8, 1.2)).mean(),
    "CleanRL": lambda b, r: torch.max(-b.advantage * r, -b.advantage * torch.clamp(r, 0.8, 1.2)).mean(),
    "columns": lambda b, r: (
        -torch.min(r[:, None] * b.advantage[:, None], r[:, None].clamp(0.8, 1.2) * b.advantage[:, None]).mean()
    ),
    "stacked": lambda b, r: (
        -torch.min(torch.stack([r * b.advantage, r.clamp(0.8, 1.2) * b.advantage]), dim=0).values.mean()
    ),
    "stacked last": lambda b, r: -torch.stack([r * b.advantage, r.clamp(0.8, 1.2) * b.advantage], -1).min(-1)[0].mean(),
    "where": lambda b, r: (
        -torch.where(
            r * b.advantage < r.clamp(0.8, 1.2) * b.advantage, r * b.advantage, r.clamp(0.8, 1.2) * b.advantage
        )
    ).mean(),
    "Spinning Up bound": lambda b, r: (
        -torch.min(r * b.advantage, torch.where(b.advantage > 0, 1.2 * b.advantage, 0.8 * b.advantage)).mean()
    ),
    "dual clip": lambda b, r: (
        -torch.max(torch.min(r * b.advantage, r.clamp(0.8, 1.2) * b.advantage), 3 * b.advantage).mean()
    ),
    "clamped by min and max": lambda b, r: (
        -torch.min(r * b.advantage, torch.max(torch.min(r, torch.tensor(1.2)), torch.tensor(0.8)) * b.advantage).mean()
    ),
}


@pytest.mark.parametrize("how", RATIOS)
def test_clipped_surrogates(b, how):
    term = only(RATIOS[how](b, (b.logp - b.old).exp()), "policy")
    assert close(-term.coefficient * term.arrays["weight"], b.advantage)
    assert term.op == "exp-ratio"
    assert close(term.arrays["ratio"], (b.logp - b.old).exp())
    assert close(term.arrays["logp"], b.logp)
    assert close(term.arrays["logp_old"], b.old)
    assert term.clip == pytest.approx((0.8, 1.2))
    assert np.array_equal(term.arrays["index"], b.action.numpy())
    assert not term.inverted
    assert term.reduction == "mean"


def test_nesting_is_told(b):
    ratio = (b.logp - b.old).exp()
    free, held = ratio * b.advantage, ratio.clamp(0.8, 1.2) * b.advantage
    ways = {(-1, "min"): -torch.min(free, held), (1, "max"): torch.max(-free, -held)}
    wrong = {(1, "min"): torch.min(-free, -held), (-1, "max"): -torch.max(free, held)}
    for (outer, nested), each in (ways | wrong).items():
        term = only(each.mean(), "policy")
        assert (term.outer, term.nested, term.coefficient) == (outer, nested, -1)


def test_unclipped_and_other_ratios(b):
    ratio = (b.logp - b.old).exp()
    term = only(-(ratio * b.advantage).mean(), "policy")
    assert term.clip is None
    assert close(term.arrays["ratio"], ratio)
    chance = b.logits.softmax(-1).gather(1, b.action[:, None]).squeeze(1)
    term = only(-(chance / b.old.exp() * b.advantage).mean(), "policy")
    assert term.op == "prob-ratio"
    assert close(term.arrays["ratio"], ratio)
    assert close(term.arrays["logp_old"], b.old)
    term = only(-(b.advantage * (b.old - b.logp).exp()).mean(), "policy")
    assert term.inverted
    assert close(term.arrays["logp_old"], b.old)
    term = only(-(chance * b.advantage).mean(), "policy")
    assert term.op == "prob"


# ── continuous actions ──────────────────────────────────────────────────────────────────────────────────────────────


def _written_out(b):
    std = b.log_std.exp()
    return (-((b.move - b.gauss.mean) ** 2) / (2 * std**2) - b.log_std - 0.9189).sum(-1)


GAUSSIANS = {
    "Normal": lambda b: b.gauss.log_prob(b.move).sum(-1),
    "Independent": lambda b: Independent(b.gauss, 1).log_prob(b.move),
    "written out": _written_out,
    "standardised": lambda b: (
        -0.5 * (((b.move - b.gauss.mean) / b.log_std.exp()) ** 2 + 2 * b.log_std + np.log(2 * np.pi)).sum(1)
    ),
    "summed apart": lambda b: (
        -0.5 * ((b.move - b.gauss.mean) / b.log_std.exp()).pow(2).sum(-1)
        - b.log_std.sum()
        - 0.5 * D * np.log(2 * np.pi)
    ),
    "fixed scale": lambda b: Normal(b.gauss.mean, np.exp(-0.3)).log_prob(b.move).sum(-1),
    "scale head": lambda b: Normal(b.gauss.mean, F.softplus(b.mean(b.obs))).log_prob(b.move).sum(-1),
    "squashed, stored action": lambda b: (
        TransformedDistribution(b.gauss, [TanhTransform()]).log_prob(b.move.tanh()).sum(-1)
    ),
    "squashed by hand": lambda b: b.gauss.log_prob(b.move).sum(-1) - torch.log(1 - b.move.tanh() ** 2 + 1e-6).sum(-1),
}


@pytest.mark.parametrize("how", GAUSSIANS)
def test_gaussian_policies(b, how):
    logp = GAUSSIANS[how](b)
    for loss in (-(logp * b.advantage).mean(), -((logp - logp.detach()).exp() * b.advantage).mean()):
        term = only(loss, "policy")
        assert close(-term.coefficient * term.arrays["weight"], b.advantage)
        assert term.family == "normal"
        assert not term.attached["action"]
        assert close(term.arrays["action"], b.move, 1e-4 if "stored" in how else 2e-6)
        assert close(term.arrays["mean"], b.gauss.mean)
        if "scale head" not in how:
            assert close(term.arrays["std"], b.log_std.exp().expand(N, D))
        if "logp" in term.arrays:
            assert close(term.arrays["logp"], logp, 1e-5)
        else:
            shift = term.arrays["logp_up_to_constant"] - logp.detach().numpy()
            assert np.ptp(shift) < 1e-5 or "squashed" in how
        assert torch.equal(term.inputs[0], b.obs)


def test_a_gaussian_without_its_constants(b):
    loss = (0.5 * ((b.move - b.gauss.mean) ** 2).sum(-1) * b.advantage).mean()
    term = only(loss, "policy")
    assert close(-term.coefficient * term.arrays["weight"].reshape(N, D)[:, 0], 0.5 * b.advantage)
    assert close(term.arrays["action"], b.move)


def test_one_continuous_action_without_a_batch(b):
    losses = []
    for i in range(N):
        step = Normal(b.mean(b.obs[i]), b.log_std.exp())
        losses.append(-step.log_prob(b.move[i]).sum() * b.advantage[i])
    term = only(torch.stack(losses).sum(), "policy")
    assert term.rows == term.steps == N
    assert close(-term.coefficient * term.arrays["weight"], b.advantage)
    assert close(term.arrays["action"], b.move)
    assert torch.equal(term.inputs[0], b.obs)


def test_other_families(b):
    loss = -(MultivariateNormal(b.gauss.mean, torch.diag_embed(b.log_std.exp())).log_prob(b.move) * b.advantage).mean()
    assert only(loss, "policy").family == "normal"
    chosen = (b.move > 0).float()
    term = only(-(Bernoulli(logits=b.mean(b.obs)).log_prob(chosen).sum(-1) * b.advantage).mean(), "policy")
    assert term.family == "bernoulli"
    assert close(term.arrays["action"], chosen)
    share = torch.rand(N, D)
    alpha = F.softplus(b.mean(b.obs)) + 1
    term = only(-(Beta(alpha, alpha).log_prob(share).sum(-1) * b.advantage).mean(), "policy")
    assert term.family == "beta"
    assert close(term.arrays["action"], share)


def test_several_choices_at_once(b):
    heads = [nn.Linear(4, 3), nn.Linear(4, 5)]
    actions = torch.stack([torch.randint(0, 3, (N,)), torch.randint(0, 5, (N,))], 1)
    each = [Categorical(logits=head(b.obs)).log_prob(actions[:, i]) for i, head in enumerate(heads)]
    net = nn.Linear(4, 8)
    split = [Categorical(logits=part) for part in net(b.obs).split([3, 5], 1)]
    ways = [
        torch.stack(each, 1).sum(1),
        torch.stack(each).sum(0),
        each[0] + each[1],
        torch.stack([dist.log_prob(a) for dist, a in zip(split, actions.T, strict=True)], dim=1).sum(dim=1),
    ]
    for logp in ways:
        term = only(-(logp * b.advantage).mean(), "policy")
        assert close(-term.coefficient * term.arrays["weight"], b.advantage)
        assert close(term.arrays["logp"], logp)
        assert np.array_equal(term.arrays["index"], actions.numpy())
        assert term.rows == N


def test_weights_that_carry_a_graph(b):
    advantage = b.target - b.v
    loss = -(b.logp * advantage).mean()
    term = only(loss, "policy")
    assert term.attached["weight"]
    assert close(-term.coefficient * term.arrays["weight"], advantage)
    assert set(term.sides["weight"]) == {id(each) for each in b.value.parameters()}
    ratio = (b.logp - b.old).exp()
    term = only(-torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean(), "policy")
    assert term.attached["weight"]
    assert not only(-(b.logp * advantage.detach()).mean(), "policy").attached["weight"]


def test_broadcast_weights_keep_their_shape(b):
    term = only(-(b.logp * b.advantage[:, None]).mean(), "policy")
    assert term.rows == N * N
    assert term.shapes["logp"] == (N,)
    assert term.shapes["weight"] == (N, 1)
    assert close(term.arrays["logp"].reshape(N, N)[3], b.logp)
    assert close(-term.coefficient * term.arrays["weight"].reshape(N, N)[:, 3], b.advantage)


# ── regressions ─────────────────────────────────────────────────────────────────────────────────────────────────────

REGRESSIONS = {
    "mse_loss": (lambda b: F.mse_loss(b.v, b.target), "mse", 1.0),
    "mse_loss, turned round": (lambda b: F.mse_loss(b.target, b.v), "mse", 1.0),
    "MSELoss": (lambda b: nn.MSELoss()(b.value(b.obs), b.target[:, None]), "mse", 1.0),
    "smooth_l1": (lambda b: F.smooth_l1_loss(b.v, b.target), "smooth-l1", 1.0),
    "gap against zeros": (lambda b: F.smooth_l1_loss(b.v - b.target, torch.zeros(N)), "smooth-l1", 1.0),
    "zeros against gap": (lambda b: F.mse_loss(torch.zeros(N), b.target - b.v), "mse", 1.0),
    "huber": (lambda b: F.huber_loss(b.v, b.target, delta=0.5), "huber", 1.0),
    "**2": (lambda b: ((b.v - b.target) ** 2).mean(), "square", 1.0),
    "pow, turned round": (lambda b: (b.target - b.v).pow(2).mean(), "square", 1.0),
    "square": (lambda b: 0.5 * torch.square(b.v - b.target).mean(), "square", 0.5),
    "x*x": (lambda b: ((b.v - b.target) * (b.v - b.target)).mean() / 2, "other", 0.5),
    "d*d": (lambda b: (lambda d: d * d)(b.v - b.target).mean(), "square", 1.0),
    "l1_loss": (lambda b: F.l1_loss(b.v, b.target), "l1", 1.0),
    "abs": (lambda b: (b.target - b.v).abs().mean(), "l1", 1.0),
    "norm squared": (lambda b: (b.v - b.target).norm() ** 2 / N, "norm", 1.0),
    "sum over n": (lambda b: ((b.v - b.target) ** 2).sum() / N, "square", 1.0),
    "half inside": (lambda b: (0.5 * (b.v - b.target) ** 2).mean(), "square", 0.5),
    "added": (lambda b: (b.v + (-b.target)).pow(2).mean(), "square", 1.0),
    "minus twice": (lambda b: (b.v - 0.5 * b.target - 0.5 * b.target).pow(2).mean(), "square", 1.0),
    "where": (
        lambda b: torch.where(
            (b.v - b.target).abs() < 1, 0.5 * (b.v - b.target) ** 2, (b.v - b.target).abs() - 0.5
        ).mean(),
        "huber",
        0.5,
    ),
    "columns": (lambda b: ((b.value(b.obs) - b.target.view(-1, 1)) ** 2).mean(), "square", 1.0),
    "mean of means": (lambda b: ((b.value(b.obs) - b.target[:, None]) ** 2).mean(1).mean(), "square", 1.0),
    "reduction none": (lambda b: F.mse_loss(b.v, b.target, reduction="none").mean(), "mse", 1.0),
    "scaled loss": (lambda b: F.mse_loss(b.v, b.target) * 65536.0, "mse", 65536.0),
    "list of steps": (lambda b: torch.stack([(b.v[i] - b.target[i]) ** 2 for i in range(N)]).mean(), "square", 1.0),
    "loop": (lambda b: sum(F.mse_loss(b.v[i], b.target[i]) for i in range(N)) / N, "mse", 1.0),
    "flattened": (lambda b: ((b.value(b.obs).flatten() - b.target) ** 2).mean(), "square", 1.0),
}


@pytest.mark.parametrize("how", REGRESSIONS)
def test_regression_formulations(b, how):
    write, op, coefficient = REGRESSIONS[how]
    loss = write(b)
    term = only(loss, "regression")
    if term.op in ("square", "mse", "l1"):
        power = 1 if term.op == "l1" else 2
        rows = np.abs(term.arrays["prediction"] - term.arrays["target"]) ** power
        assert term.scale * rows.sum() == pytest.approx(loss.item(), rel=1e-4)
    assert term.op == ("square" if op == "other" else op)
    assert term.coefficient == pytest.approx(coefficient)
    assert term.reduction == "mean"
    assert term.rows == N
    assert close(term.arrays["prediction"], b.v)
    assert close(term.arrays["target"], b.target)
    assert not term.attached["target"]
    assert "weight" not in term.arrays
    assert torch.equal(term.inputs[0], b.obs)
    assert term.parameters == {id(each) for each in b.value.parameters()}


def test_sums_are_not_means(b):
    term = only(((b.v - b.target) ** 2).sum(), "regression")
    assert (term.reduction, term.coefficient) == ("sum", 1.0)
    term = only(F.mse_loss(b.v, b.target, reduction="sum") * 0.5, "regression")
    assert (term.reduction, term.coefficient) == ("sum", 0.5)
    two = ((b.mean(b.obs) - b.move) ** 2).sum(-1).mean()
    term = only(two, "regression")
    assert (term.reduction, term.rows) == ("mixed", N * D)
    assert term.scale == pytest.approx(1 / N)


@pytest.mark.parametrize("fused", [True, False])
def test_broadcast_regression(b, fused):
    column = b.value(b.obs)
    with pytest.warns(UserWarning, match="size") if fused else nullcontext():
        loss = F.mse_loss(column, b.target) if fused else ((column - b.target) ** 2).mean()
    term = only(loss, "regression")
    assert term.rows == N * N
    assert term.shapes["prediction"] == (N, 1)
    assert term.shapes["target"] == (N,)
    assert close(term.arrays["target"].reshape(N, N)[2], b.target)
    other = b.target[:, None]
    loss = F.smooth_l1_loss(b.v.expand(N, N), other.expand(N, N)) if fused else (b.v - other).pow(2).mean()
    term = only(loss, "regression")
    assert term.shapes["prediction"] == (N,)
    assert term.shapes["target"] == (N, 1)


Q = {
    "gather": lambda b: F.mse_loss(b.q.gather(1, b.action[:, None]).squeeze(1), b.target),
    "gather column": lambda b: F.smooth_l1_loss(b.q.gather(1, b.action[:, None]), b.target[:, None]),
    "indexed": lambda b: ((b.q[torch.arange(N), b.action] - b.target) ** 2).mean(),
    "one-hot": lambda b: (((b.q * one_hot(b)).sum(1) - b.target) ** 2).mean(),
    "one-hot in mse": lambda b: F.mse_loss((b.q * one_hot(b)).sum(-1), b.target),
    "one at a time": lambda b: sum((b.policy(b.obs[i])[b.action[i]] - b.target[i]) ** 2 for i in range(N)) / N,
    "one at a time, plain index": lambda b: (
        sum(F.mse_loss(b.policy(b.obs[i])[int(b.action[i])], b.target[i]) for i in range(N)) / N
    ),
}


@pytest.mark.parametrize("how", Q)
def test_q_learning(b, how):
    term = only(Q[how](b), "regression")
    assert close(term.arrays["prediction"], b.taken)
    assert close(term.arrays["target"], b.target)
    assert np.array_equal(term.arrays["index"], b.action.numpy())
    assert torch.equal(term.inputs[0], b.obs)
    assert term.rows == N


def test_dueling_heads_and_tables(b):
    advantage, value = nn.Linear(4, K), nn.Linear(4, 1)
    a = advantage(b.obs)
    q = value(b.obs) + a - a.mean(1, keepdim=True)
    term = only(F.mse_loss(q.gather(1, b.action[:, None]).squeeze(), b.target), "regression")
    assert close(term.arrays["prediction"], q.gather(1, b.action[:, None]).squeeze())
    assert len(term.parameters) == 4
    table = nn.Parameter(torch.randn(5, K))
    states = torch.randint(0, 5, (N,))
    term = only(((table[states, b.action] - b.target) ** 2).mean(), "regression")
    assert np.array_equal(term.arrays["index"], b.action.numpy())
    assert torch.equal(term.inputs[0], states)


def test_targets_that_carry_a_graph(b):
    later = torch.randn(N, 4)
    reward = torch.randn(N)
    target = reward + 0.9 * b.policy(later).max(1).values
    for loss in (F.mse_loss(b.taken, target), (b.taken - target).pow(2).mean(), (target - b.taken).pow(2).mean()):
        term = only(loss, "regression")
        assert term.attached["target"]
        assert close(term.arrays["prediction"], b.taken)
        assert close(term.arrays["target"], target)
        assert np.array_equal(term.arrays["index"], b.action.numpy())
        assert torch.equal(term.inputs[0], b.obs)
        assert set(term.sides["target"]) == {id(each) for each in b.policy.parameters()}


def test_values_that_are_really_zero_are_held_against_zero(b):
    """What a dueling network takes off within itself is no target."""
    table = b.value(b.obs) + b.q - b.q.mean(1, keepdim=True)
    term = only(F.mse_loss(table.gather(1, b.action[:, None]).squeeze(1), torch.zeros(N)), "regression")
    assert not term.arrays["target"].any()
    assert term.arrays["index"].tolist() == b.action.tolist()


def test_weighted_regressions(b):
    weight = torch.rand(N) + 0.1
    ways = [
        (weight * (b.taken - b.target) ** 2).mean(),
        (weight * F.mse_loss(b.taken, b.target, reduction="none")).mean(),
        (F.smooth_l1_loss(b.taken, b.target, reduction="none") * weight).mean(),
        ((b.taken - b.target).pow(2) * weight).mean(),
    ]
    for loss in ways:
        term = only(loss, "regression")
        assert close(term.arrays["weight"], weight)
        assert close(term.arrays["target"], b.target)
        assert np.array_equal(term.arrays["index"], b.action.numpy())
        assert term.reduction == "mean"
        assert term.coefficient == pytest.approx(1)
    # Weights that come too late: the errors are averaged already.
    term = only((weight * F.mse_loss(b.taken, b.target)).mean(), "regression")
    assert "weight" not in term.arrays
    assert term.scale * N == pytest.approx(float(weight.mean()), rel=1e-5)


def test_clipped_values(b):
    old = (b.v + 0.3 * torch.randn(N)).detach()
    clipped = old + torch.clamp(b.v - old, -0.2, 0.2)
    loss = 0.5 * torch.max((b.v - b.target) ** 2, (clipped - b.target) ** 2).mean()
    term = only(loss, "regression")
    assert close(term.arrays["target"], b.target)
    assert close(term.arrays["prediction"], b.v)
    assert term.clip == pytest.approx((-0.2, 0.2))
    assert (term.nested, term.coefficient) == ("max", 0.5)
    loss = torch.max(
        F.mse_loss(b.v, b.target, reduction="none"), F.mse_loss(clipped, b.target, reduction="none")
    ).mean()
    term = only(loss, "regression")
    assert close(term.arrays["prediction"], b.v)
    assert term.clip == pytest.approx((-0.2, 0.2))


def test_quantiles(b):
    quantiles = nn.Linear(4, 5)(b.obs)
    target = torch.randn(N, 5)
    gap = target[:, None, :] - quantiles[:, :, None]
    huber = torch.where(gap.abs() < 1, 0.5 * gap**2, gap.abs() - 0.5)
    tau = ((torch.arange(5) + 0.5) / 5).view(1, 5, 1)
    term = only(((tau - (gap.detach() < 0).float()).abs() * huber).sum(1).mean(), "regression")
    assert term.op == "huber"
    assert close(term.arrays["prediction"] - term.arrays["target"], -gap)
    assert term.rows == N * 25


# ── actor-critics, entropies, outputs ───────────────────────────────────────────────────────────────────────────────


def test_a_whole_ppo_loss(b):
    dist = Categorical(logits=b.logits)
    ratio = (dist.log_prob(b.action) - b.old).exp()
    surrogate = torch.min(ratio * b.advantage, ratio.clamp(0.8, 1.2) * b.advantage).mean()
    loss = -surrogate + 0.5 * F.mse_loss(b.v, b.target) - 0.01 * dist.entropy().mean()
    policy, value, entropy = terms_of(loss)
    assert (policy.kind, policy.coefficient) == ("policy", -1)
    assert (value.kind, value.coefficient) == ("regression", 0.5)
    assert (entropy.kind, entropy.coefficient) == ("entropy", pytest.approx(-0.01))
    assert close(entropy.arrays["entropy"], dist.entropy())
    assert [each.coefficient for each in terms_of(128.0 * loss)] == pytest.approx([-128, 64, -1.28])


ENTROPIES = {
    "Categorical": lambda b: Categorical(logits=b.logits).entropy().mean(),
    "from probs": lambda b: Categorical(b.logits.softmax(-1)).entropy().mean(),
    "p log p": lambda b: -(b.logits.softmax(-1) * b.log_probs).sum(-1).mean(),
    "p log p, summed at once": lambda b: -torch.sum(b.logits.softmax(-1) * b.log_probs) / N,
    "exp": lambda b: -(b.log_probs.exp() * b.log_probs).sum(1).mean(),
    "log(p)": lambda b: -(b.logits.softmax(1) * torch.log(b.logits.softmax(1) + 1e-8)).sum(1).mean(),
}


@pytest.mark.parametrize("how", ENTROPIES)
def test_entropies(b, how):
    for sign in (-0.01, 0.01):
        policy, entropy = terms_of(-(b.logp * b.advantage).mean() + sign * ENTROPIES[how](b))
        assert policy.kind == "policy"
        assert entropy.kind == "entropy"
        assert entropy.coefficient == pytest.approx(sign)


def test_entropies_of_gaussians(b):
    logp = b.gauss.log_prob(b.move).sum(-1)
    for sign in (-0.01, 0.01):
        for entropy in (b.gauss.entropy().sum(-1).mean(), b.gauss.entropy().mean(), (b.log_std + 1.4189).sum()):
            policy, found = terms_of(-(logp * b.advantage).mean() + sign * entropy)
            assert policy.kind == "policy"
            assert found.kind == "entropy"
            assert found.coefficient == pytest.approx(sign)
    policy, found = terms_of(-(logp * b.advantage).mean() - 0.01 * (-logp).mean())
    assert (found.kind, found.op) == ("entropy", "sampled")
    assert found.coefficient == pytest.approx(-0.01)


def test_divergences_are_not_entropies(b):
    """The parts of a divergence between Gaussians hold the log of the scale too, with the sign the other way round."""
    logp = b.gauss.log_prob(b.move).sum(-1)
    old = Normal(b.gauss.mean.detach() + 0.1, b.gauss.stddev.detach() * 1.1)
    by_hand = (
        b.log_std
        - old.stddev.log()
        + (old.variance + (old.mean - b.gauss.mean) ** 2) / (2 * b.log_std.exp() ** 2)
        - 0.5
    )
    for penalty in (
        kl_divergence(old, b.gauss).sum(-1).mean(),
        by_hand.sum(-1).mean(),
        kl_divergence(b.gauss, old).mean(),
    ):
        terms = terms_of(-(logp * b.advantage).mean() + 0.1 * penalty)
        assert terms[0].kind == "policy"
        assert {each.kind for each in terms[1:]} == {"other"}, [(each.kind, each.op) for each in terms]


def test_weight_decay_written_out_is_not_an_entropy(b):
    logp = b.gauss.log_prob(b.move).sum(-1)
    decay = sum((each**2).sum() for each in b.mean.parameters()) + (b.log_std**2).sum()
    terms = terms_of(-(logp * b.advantage).mean() + 1e-3 * decay)
    assert [each.kind for each in terms] == ["policy"] + ["other"] * (len(terms) - 1)
    spread = nn.Linear(4, D)(b.obs)
    logp = Normal(b.gauss.mean, spread.exp()).log_prob(b.move).sum(-1)
    _, entropy = terms_of(-(logp * b.advantage).mean() - 0.01 * (spread + 1.4189).sum(-1).mean())
    assert (entropy.kind, entropy.coefficient) == ("entropy", pytest.approx(-0.01))


def test_terms_added_row_by_row(b):
    """All of it under one mean: a value loss beside an entropy is no divergence."""
    logp = b.gauss.log_prob(b.move).sum(-1)
    each = -logp * b.advantage + 0.5 * (b.v - b.target) ** 2 - 0.01 * b.gauss.entropy().sum(-1)
    policy, value, entropy = terms_of(each.mean())
    assert (policy.kind, policy.coefficient) == ("policy", -1)
    assert (value.kind, value.coefficient) == ("regression", 0.5)
    assert (entropy.kind, entropy.coefficient) == ("entropy", pytest.approx(-0.01))
    assert close(value.arrays["target"], b.target)


def test_nothing_is_warned_about(b):
    scale = nn.Parameter(torch.tensor(0.7))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        terms_of(-(b.logp * scale * b.advantage).mean() + (scale * (b.v - b.target) ** 2).mean())


def test_actor_critic_with_steps_in_lists(b):
    loss = 0
    policy, value = [], []
    for i in range(N):
        dist = Categorical(logits=b.policy(b.obs[i]))
        v = b.value(b.obs[i])
        gap = b.target[i] - v.item()
        policy.append(-dist.log_prob(b.action[i]) * gap)
        value.append(F.smooth_l1_loss(v, b.target[i : i + 1]))
        loss = loss + policy[-1] + 0.5 * value[-1] - 0.01 * dist.entropy()
    gaps = b.target - b.v.detach()
    for whole in (loss, torch.stack(policy).sum() + 0.5 * torch.stack(value).sum()):
        terms = {each.kind: each for each in terms_of(whole)}
        assert len(terms) == len(terms_of(whole)) == (3 if whole is loss else 2)
        assert terms["policy"].rows == terms["regression"].rows == N
        assert terms["policy"].reduction == "sum"
        assert close(-terms["policy"].coefficient * terms["policy"].arrays["weight"], gaps)
        assert np.array_equal(terms["policy"].arrays["index"], b.action.numpy())
        assert close(terms["regression"].arrays["target"], b.target)
        assert close(terms["regression"].arrays["prediction"], b.v)
        assert terms["regression"].coefficient == pytest.approx(0.5)
        assert torch.equal(terms["policy"].inputs[0], b.obs)
        assert torch.equal(terms["regression"].inputs[0], b.obs)


def test_reinforce_over_thousands_of_steps(b):
    steps = 1100  # more than Python may recurse
    weights = torch.randn(steps)
    loss = 0
    for i in range(steps):
        loss = loss - torch.log_softmax(b.policy(b.obs[i % N]), -1)[int(b.action[i % N])] * float(weights[i])
    term = only(loss, "policy")
    assert term.rows == term.steps == steps
    assert close(-term.coefficient * term.arrays["weight"], weights)


def test_vector_steps_in_a_list(b):
    obs = torch.randn(5, N, 4)
    action = torch.randint(0, K, (5, N))
    weights = torch.randn(5, N)
    logps = [Categorical(logits=b.policy(obs[t])).log_prob(action[t]) for t in range(5)]
    ways = [
        -(torch.stack(logps) * weights).mean(),
        torch.stack([-logps[t] * weights[t] for t in range(5)]).mean(),
        -(torch.cat(logps) * weights.flatten()).mean(),
        sum((-logps[t] * weights[t]).mean() for t in range(5)) / 5,
    ]
    for loss in ways:
        term = only(loss, "policy")
        assert term.rows == 5 * N
        assert close(-term.coefficient * term.arrays["weight"], weights.flatten())
        assert np.array_equal(term.arrays["index"], action.flatten().numpy())
        assert close(term.arrays["logp"], torch.cat(logps))
        assert torch.equal(term.inputs[0].reshape(-1, 4), obs.reshape(-1, 4))
        assert (term.reduction, abs(term.coefficient)) == ("mean", pytest.approx(1))
        assert term.scale * term.rows == pytest.approx(term.coefficient)


class Soft:
    """Actor and critics over continuous actions."""

    def __init__(self) -> None:
        torch.manual_seed(1)
        self.actor = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2 * D))
        self.critics = [nn.Sequential(nn.Linear(4 + D, 8), nn.ReLU(), nn.Linear(8, 1)) for _ in range(2)]
        self.obs, self.move, self.target = torch.randn(N, 4), torch.rand(N, D), torch.randn(N, 1)
        mean, log_std = self.actor(self.obs).chunk(2, -1)
        self.dist = Normal(mean, log_std.clamp(-5, 2).exp())
        raw = self.dist.rsample()
        self.act = raw.tanh()
        self.logp = (self.dist.log_prob(raw) - torch.log(1 - self.act.pow(2) + 1e-6)).sum(-1, keepdim=True)

    def q(self, act: torch.Tensor) -> list[torch.Tensor]:
        return [each(torch.cat([self.obs, act], 1)) for each in self.critics]


def test_soft_actor_critic():
    s = Soft()
    one, two = s.q(s.move)
    terms = terms_of(F.mse_loss(one, s.target) + F.mse_loss(two, s.target))
    assert [each.kind for each in terms] == ["regression", "regression"]
    assert terms[0].parameters.isdisjoint(terms[1].parameters)
    assert close(terms[1].arrays["prediction"], two)
    assert torch.equal(terms[0].inputs[0], torch.cat([s.obs, s.move], 1))
    pi = s.q(s.act)
    entropy, value = terms_of((0.2 * s.logp - torch.min(*pi)).mean())
    assert (entropy.kind, entropy.op, entropy.coefficient) == ("output", "logp", pytest.approx(0.2))
    assert entropy.attached["action"]
    assert (value.kind, value.coefficient, value.nested) == ("output", -1, "min")
    assert close(value.arrays["output"], torch.min(*pi))
    assert {id(each) for each in s.actor.parameters()} <= value.parameters
    assert any(torch.equal(each, s.obs) for each in value.inputs)
    log_alpha = nn.Parameter(torch.zeros(1))
    term = only(-(log_alpha * (s.logp + 2.0).detach()).mean(), "other")
    assert term.op == "parameter"
    assert close(term.arrays["weight"], s.logp + 2)
    term = only(-(log_alpha.exp() * (s.logp + 2.0).detach()).mean(), "other")
    assert not [each for each in terms_of((log_alpha.exp().detach() * s.logp - pi[0]).mean()) if each.kind == "policy"]


def test_library_squashed_policies_are_not_policy_gradients():
    s = Soft()
    squashed = TransformedDistribution(s.dist, [TanhTransform(cache_size=1)])
    act = squashed.rsample()
    kinds = {each.kind for each in terms_of((0.1 * squashed.log_prob(act).sum(-1) - s.q(act)[0].squeeze()).mean())}
    assert kinds == {"output"}


def test_deterministic_actor():
    s = Soft()
    act = s.actor(s.obs)[:, :D].tanh()
    for loss in (-s.q(act)[0].mean(), -torch.mean(s.q(act)[0].squeeze(-1)), -s.q(act)[0].sum() / N):
        term = only(loss, "output")
        assert (term.op, term.coefficient, term.reduction) == ("mean", -1, "mean")
        assert close(term.arrays["output"], s.q(act)[0])
        assert {id(each) for each in s.actor.parameters()} <= term.parameters
        assert term.through
    assert not only(-s.q(s.move)[0].mean(), "output").through


def test_cross_entropies(b):
    term = only(F.cross_entropy(b.logits, b.action), "classification")
    assert (term.op, term.coefficient) == ("cross-entropy", 1)
    assert np.array_equal(term.arrays["index"], b.action.numpy())
    term = only(-b.logp.mean(), "classification")
    assert term.coefficient == 1
    aim = torch.rand(N, K).softmax(-1)
    for loss in (-(aim * b.log_probs).sum(-1).mean(), F.cross_entropy(b.logits, aim)):
        term = only(loss, "classification")
        assert term.coefficient == pytest.approx(1)
        assert close(term.arrays["target"], aim)
        assert close(term.arrays["prediction"], b.log_probs)
        assert term.rows == N
    weight = torch.rand(N)
    term = only(-((aim * b.log_probs).sum(-1) * weight).mean(), "classification")
    assert close(term.arrays["weight"], weight)
    chosen = nn.Linear(4, K * 6)(b.obs).view(N, K, 6).log_softmax(-1)[torch.arange(N), b.action]  # C51
    aim = torch.rand(N, 6).softmax(-1)
    term = only(-(aim * chosen).sum(-1).mean(), "classification")
    assert close(term.arrays["target"], aim)
    assert np.array_equal(term.arrays["index"], b.action.numpy())
    table = nn.Linear(4, K * 6)(b.obs).view(N, K, 6)
    taken = b.action[:, None, None].expand(N, 1, 6)
    for logits in (table[torch.arange(N), b.action], table.gather(1, taken).squeeze(1)):
        for loss in (
            -(aim * logits.log_softmax(-1)).sum(-1).mean(),
            F.cross_entropy(logits, aim),
            F.kl_div(logits.log_softmax(-1), aim, reduction="batchmean"),
            -(aim * logits.softmax(-1).clamp(min=1e-8).log()).sum(-1).mean(),
        ):
            term = only(loss, "classification")
            assert close(term.arrays["target"], aim)
            assert np.array_equal(term.arrays["index"], b.action.numpy())
    term = only(F.binary_cross_entropy_with_logits(b.v, (b.target > 0).float()), "classification")
    assert term.coefficient == 1


def test_tokens(b):
    size, long, words = 3, 5, 11
    net = nn.Sequential(nn.Embedding(words, 6), nn.Linear(6, words))
    tokens = torch.randint(0, words, (size, long))
    logp = net(tokens).log_softmax(-1).gather(-1, tokens[..., None]).squeeze(-1)
    advantage = torch.randn(size)
    mask = (torch.rand(size, long) > 0.3).float()
    spread = (advantage[:, None] * mask).flatten()
    term = only(-(logp * advantage[:, None] * mask).sum() / mask.sum(), "policy")
    assert (term.reduction, term.coefficient) == ("mean", pytest.approx(-1))
    assert close(term.arrays["weight"] * term.arrays["mask"], spread)
    assert np.array_equal(term.arrays["index"], tokens.flatten().numpy())
    old = (logp + 0.1 * torch.randn(size, long)).detach()
    ratio = (logp - old).exp()
    other = (logp + 0.1 * torch.randn(size, long)).detach()
    kl = (other - logp).exp() - (other - logp) - 1
    each = -torch.min(ratio * advantage[:, None], ratio.clamp(0.8, 1.2) * advantage[:, None]) + 0.04 * kl
    for whole in (
        (each * mask).sum() / mask.sum(),
        ((each * mask).sum(1) / mask.sum(1)).mean(),
    ):
        policy, penalty = terms_of(whole)
        assert policy.kind == "policy"
        assert policy.op == "exp-ratio"
        assert policy.clip == pytest.approx((0.8, 1.2))
        assert close(policy.arrays["ratio"], ratio)
        assert close(policy.arrays["logp"], logp)
        assert policy.arrays["weight"].shape == (size * long,)
        assert (penalty.kind, penalty.op) == ("other", "kl")
        assert penalty.coefficient == pytest.approx(0.04, rel=1e-5)
    whole = ((each * mask).sum(1) / mask.sum(1)).mean()
    policy = terms_of(whole)[0]
    truth = (advantage[:, None] * mask / mask.sum(1, keepdim=True)).flatten()
    assert close(-policy.coefficient * policy.arrays["weight"] * policy.arrays["mask"], truth)


def test_masks_and_divergences(b):
    keep = torch.rand(N) > 0.4
    term = only(-(b.logp * b.advantage)[keep].mean(), "policy")
    assert close(-term.coefficient * term.arrays["weight"], b.advantage[keep])
    assert close(term.arrays["logp"], b.logp[keep])
    assert np.array_equal(term.arrays["index"], b.action[keep].numpy())
    term = only(((b.v - b.target)[keep] ** 2).mean(), "regression")
    assert close(term.arrays["target"], b.target[keep])
    old = Categorical(logits=b.logits.detach() + 0.1 * torch.randn(N, K))
    assert only(kl_divergence(old, Categorical(logits=b.logits)).mean(), "other").op == "kl"
    assert only(((b.logp - b.old) ** 2).mean() / 2, "other").op == "kl"
    masked = b.logits.masked_fill(torch.tensor([False, True, False]), -1e8)
    term = only(-(Categorical(logits=masked).log_prob(b.action * 0) * b.advantage).mean(), "policy")
    assert not term.arrays["index"].any()


def test_products_that_sum(b):
    column = b.log_probs.gather(1, b.action[:, None])
    for loss in (-torch.einsum("i,i->", b.logp, b.advantage) / N, -(column.T @ b.advantage[:, None]).sum() / N):
        term = only(loss, "policy")
        assert (term.reduction, term.coefficient) == ("mean", pytest.approx(-1))
        assert close(term.arrays["weight"], b.advantage)
        assert close(term.arrays["logp"], b.logp)


def test_episodes_of_different_length(b):
    returns = torch.tensor([1.5, -2.0])
    term = only(-(torch.stack([b.logp[:3].sum(), b.logp[3:].sum()]) * returns).mean(), "policy")
    assert (term.rows, term.steps, term.coefficient) == (N, 2, -1)
    assert close(term.arrays["weight"], returns.repeat_interleave(torch.tensor([3, N - 3])))
    assert close(term.arrays["logp"], b.logp)


def test_recurrent_steps(b):
    cell, head, hidden, loss = nn.GRUCell(4, 6), nn.Linear(6, K), torch.zeros(1, 6), torch.zeros(1)
    for i in range(N):
        hidden = cell(b.obs[i : i + 1], hidden)
        loss = loss - Categorical(logits=head(hidden)).log_prob(b.action[i]) * float(b.advantage[i])
    term = only(loss.sum(), "policy")
    assert term.rows == term.steps == N
    assert torch.equal(term.inputs[0], b.obs)
    assert np.array_equal(term.arrays["index"], b.action.numpy())


def test_what_is_wrong_with_a_log_prob_is_told(b):
    twice = Categorical(logits=b.logits.softmax(-1)).log_prob(b.action)
    assert only(-(twice * b.advantage).mean(), "policy").twice
    assert only(-(F.log_softmax(b.logits.softmax(-1), -1)[range(N), b.action] * b.advantage).mean(), "policy").twice
    assert not only(-(b.logp * b.advantage).mean(), "policy").twice
    missing = only(-(b.logits[range(N), b.action] * b.advantage).mean(), "output")  # no log-prob at all
    assert np.array_equal(missing.arrays["index"], b.action.numpy())
    assert close(missing.arrays["weight"], b.advantage)


def test_an_index_of_rows_is_not_an_action(b):
    chosen = torch.randperm(N)[:4]
    term = only(((b.v[chosen] - b.target[chosen]) ** 2).mean(), "regression")
    assert "index" not in term.arrays
    assert close(term.arrays["target"], b.target[chosen])


def test_penalties_are_not_regressions(b):
    ratio = (b.logp - b.old).exp()
    policy, penalty = terms_of(-(ratio * b.advantage).mean() + 0.5 * ((ratio - 1) ** 2).mean())
    assert (policy.kind, penalty.kind, penalty.op) == ("policy", "other", "penalty")
    assert only((Categorical(logits=b.logits).entropy() - 1).pow(2).mean(), "other").op == "penalty"
    assert only(-F.logsigmoid(0.1 * (b.logp - b.old)).mean(), "other").op == "LogSigmoid"
    assert (
        only((b.logits.softmax(-1) * (0.1 * b.log_probs - torch.randn(N, K))).sum(-1).mean(), "other").op == "expected"
    )


# ── promises ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_reading_changes_nothing_and_keeps_nothing(b):
    loss = -(b.logp * b.advantage).mean() + F.mse_loss(b.v, b.target)
    before = torch.get_rng_state()
    terms = terms_of(loss)
    assert torch.equal(before, torch.get_rng_state())
    copies = [each.arrays["weight"].copy() for each in terms[:1]]
    witness = Term("", 0.0, "", "", 0)
    loss.grad_fn.metadata["witness"] = witness  # dies with the node
    gone, node = weakref.ref(loss), weakref.ref(witness)
    del witness
    loss.backward()
    expected = [each.grad.clone() for each in b.policy.parameters()]
    b.advantage.zero_()
    assert np.array_equal(copies[0], terms[0].arrays["weight"])
    gc.disable()
    try:
        del loss
        assert gone() is None
        assert node() is None
    finally:
        gc.enable()
    again = Batch()
    (-(again.logp * again.advantage).mean() + F.mse_loss(again.v, again.target)).backward()
    assert all(torch.equal(x, y.grad) for x, y in zip(expected, again.policy.parameters(), strict=True))
    assert all(not each.requires_grad for term in terms for each in term.inputs)


def test_what_cannot_be_read_does_not_raise(b):
    loss = F.mse_loss(b.v, b.target) - (b.logp * b.advantage).mean()
    loss.backward()
    assert all(not each.arrays.get("weight", np.empty(0)).size for each in terms_of(loss))  # freed
    assert terms_of(torch.tensor(1.0)) == []
    weight = nn.Parameter(torch.ones(()))
    assert terms_of(weight) == []

    class Own(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            return gradient

    assert terms_of(Own.apply(weight * 2))[0].kind in ("other", "output")
    for strange in (
        weight.exp().log().sin().sum(),
        torch.linalg.det(torch.eye(3) * weight),
        torch.fft.fft(b.v).abs().sum(),
        (b.v[:, None] @ b.v[None]).sum(),
        torch.empty(0, requires_grad=True).sum() + weight,
        b.v.std() * b.v.var(),
    ):
        assert isinstance(terms_of(strange), list)


def test_saved_tensor_hooks_are_never_run(b, monkeypatch):
    monkeypatch.setattr(loss_nodes, "_entered", False)
    monkeypatch.setattr(loss_nodes, "_watched", False)
    board = Switchboard()
    install(board)
    ran = []
    try:
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: (ran.append(1), t)[1]):
            hidden = (b.value(b.obs).squeeze(-1) - b.target).pow(2).mean()
        calls = []
        b.policy.register_forward_hook(lambda *_: calls.append(1))
        again = torch.utils.checkpoint.checkpoint(b.policy, b.obs, use_reentrant=False)
        calls.clear()
        terms = terms_of(hidden) + terms_of(
            (again.log_softmax(-1).gather(1, b.action[:, None])[:, 0] * b.advantage).mean()
        )
        assert not ran
        assert not calls
        assert terms[0].arrays == {}
        assert close(terms[1].arrays["weight"], b.advantage)  # outside of the hooks
    finally:
        board.undo()
    assert readable()


def test_lines_are_told_under_anomaly_recording(b):
    torch.set_anomaly_enabled(True, check_nan=False)
    try:
        loss = F.mse_loss(b.value(b.obs).squeeze(-1), b.target)
        found = only(loss, "regression").line
    finally:
        torch.set_anomaly_enabled(False)
    assert found is not None
    assert found[0] == __file__
    assert "F.mse_loss(b.value(b.obs)" in Path(__file__).read_text(encoding="utf-8").splitlines()[found[1] - 1]
    assert only(F.mse_loss(b.v, b.target), "regression").line is None


def test_mixed_precision(b):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        v = b.value(b.obs).squeeze(-1)
        logp = b.policy(b.obs).log_softmax(-1).gather(1, b.action[:, None])[:, 0]
        loss = ((v - b.target) ** 2).mean() - (logp * b.advantage).mean()
        value, policy = terms_of(loss * 1024.0)
    assert value.coefficient == 1024
    assert close(value.arrays["target"], b.target, 2e-2)
    assert policy.coefficient == -1024
    assert close(policy.arrays["weight"], b.advantage, 2e-2)


def test_many_rows_are_cut():
    net = nn.Linear(2, 1)
    obs, target = torch.randn(5000, 2), torch.randn(5000)
    term = only(((net(obs).squeeze() - target) ** 2).mean(), "regression")
    assert term.cut
    assert term.rows == 5000
    assert close(term.arrays["target"], target[:4096])


def test_a_squared_error_with_a_cap_is_a_regression_whose_capped_rows_push_nothing(b: Batch) -> None:
    error = (b.v - b.target) ** 2
    cap = float(error.detach().median())
    (term,) = terms_of(torch.clamp(error, 0, cap).mean())
    assert (term.kind, term.op, term.rows) == ("regression", "square", N)
    np.testing.assert_allclose(term.arrays["target"], b.target, rtol=1e-4, atol=1e-6)
    np.testing.assert_array_equal(term.arrays["mask"], (error <= cap).float())
    (term,) = terms_of(torch.clamp(error, 0, 1e6).mean())
    assert "mask" not in term.arrays


def test_sums_of_a_whole_actor_critic_are_no_gaussian(b: Batch) -> None:
    """The log-probs are exponentiated for the entropy: that makes no log of a scale of them, beside half a square."""
    policy = -(b.logp * b.advantage).sum()
    value = 0.5 * (b.target - b.v).pow(2).sum()
    entropy = (b.log_probs.exp() * b.log_probs).sum()
    found = terms_of(policy + 0.5 * value + 0.01 * entropy)
    assert sorted(each.kind for each in found) == ["entropy", "policy", "regression"]
    weighted = next(each for each in found if each.kind == "policy")
    np.testing.assert_allclose(weighted.arrays["weight"], b.advantage.numpy(), rtol=1e-6)


@pytest.mark.parametrize(("outputs", "chosen"), [([3] * 20, False), ([0, 1] * 10, True)])
def test_the_same_output_of_many_single_rows_is_a_head_and_no_action(outputs, chosen):
    torch.manual_seed(0)
    net = nn.Linear(3, 4)
    loss = sum((net(torch.randn(1, 3))[0, each] - torch.randn(())) ** 2 for each in outputs)
    (term,) = terms_of(loss)
    assert term.kind == "regression"
    assert ("index" in term.arrays) == chosen
