"""The quantile Huber loss of QR-DQN and IQN: every predicted quantile beside every target."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rldebug.oracles.material.q_tables import forward_of
from rldebug.oracles.oracle import Array, Case, Mistake, Oracle, Output, Quantity, Style, Values, floats


def reference(case: Case) -> Values:
    """The sum over predicted quantiles, the mean over targets and over rows."""
    predicted, target, tau, kappa = case["quantiles"], case["target"], case["tau"], case["kappa"]
    rows, count = predicted.shape
    total, slope = 0.0, np.zeros_like(predicted)
    for b in range(rows):
        for i in range(count):
            for j in range(target.shape[1]):
                error = target[b, j] - predicted[b, i]
                weight = 1.0 - tau[b, i] if error < 0 else tau[b, i]
                if abs(error) <= kappa:
                    loss, steep = 0.5 * error**2, error
                else:
                    loss, steep = kappa * (abs(error) - 0.5 * kappa), kappa * np.sign(error)
                total += weight * loss / kappa / target.shape[1] / rows
                slope[b, i] -= weight * steep / kappa / target.shape[1] / rows
    return {"loss": np.asarray(total), "grad:quantiles": slope}


def variant(
    case: Case,
    *,
    over: str = "sum-mean",  # over predicted and over targets: sum-mean, mean-mean, mean-sum, sum-sum
    rows: str = "mean",  # mean, sum, none
    kind: str = "huber",  # huber, absolute (κ = 0), squared, half-missing
    kappa: str = "divided",  # divided, whole
    axis: str = "predicted",  # whose τ weighs: predicted, target
    below: str = "target",  # which one is below where 1 − τ weighs: target, predicted
    absolute: bool = True,
    weight: str = "tau",  # tau, indicator, none
    fractions: str = "middle",  # middle, upper, lower
    pairs: str = "all",  # all, same
    sign: float = 1.0,
) -> Values:
    predicted, target, k = case["quantiles"], case["target"], case["kappa"]
    tau = case["tau"]
    if fractions != "middle" and not case["tau_given"]:
        first = 1.0 if fractions == "upper" else 0.0
        tau = np.broadcast_to((np.arange(predicted.shape[1]) + first) / predicted.shape[1], tau.shape)
    error = target[:, None, :] - predicted[:, :, None]  # rows × predicted × targets
    factor = tau[:, :, None]
    if axis == "target":
        factor = tau[:, None, :] if tau.shape[1] == target.shape[1] else np.full_like(error, np.nan)
    if pairs == "same":
        keep = np.eye(*error.shape[1:])[None]
    flag = (error < 0 if below == "target" else error > 0).astype(np.float64)
    if weight == "none":
        scale = np.ones_like(error)
    elif weight == "indicator":
        scale = factor * np.ones_like(error)
    else:
        scale = np.abs(factor - flag) if absolute else factor - flag
    size = np.abs(error)
    if kind == "absolute":
        loss, slope = size, np.sign(error)
    elif kind == "squared":
        loss, slope = 0.5 * error**2, error
    else:
        half = 1.0 if kind == "half-missing" else 0.5
        loss = np.where(size <= k, half * error**2, k * (size - 0.5 * k))
        slope = np.where(size <= k, 2.0 * half * error, k * np.sign(error))
    if kappa == "divided" and kind not in ("absolute", "squared"):
        loss, slope = loss / k, slope / k
    loss, slope = sign * scale * loss, -sign * scale * slope
    count, targets = error.shape[1:]
    if pairs == "same":
        loss, slope, targets = loss * keep, slope * keep, 1
    by = {"sum-mean": targets, "mean-mean": count * targets, "mean-sum": count, "sum-sum": 1}[over]
    loss, slope = loss.sum(axis=(1, 2)) / by, slope.sum(axis=2) / by
    if rows != "none":
        divided = len(loss) if rows == "mean" else 1
        loss, slope = np.asarray(loss.sum() / divided), slope / divided
    return {"loss": loss, "grad:quantiles": slope}


def _case(name: str, quantiles: Any, target: Any, tau: Any = None, kappa: float = 1.0) -> Case:
    quantiles, target = floats(quantiles), floats(target)
    own = tau is not None
    if tau is None:
        tau = np.tile(_middles(quantiles.shape[1]), (len(quantiles), 1))
    given = {"quantiles": quantiles, "target": target, "tau": floats(tau), "kappa": kappa, "tau_given": own}
    return Case(name, given, edge=len(quantiles) == 1)


def _middles(count: int) -> Array:
    return (np.arange(count) + 0.5) / count


def cases() -> list[Case]:
    first, second = [[1.0, 2.0, 5.0], [0.0, -1.5, 3.0]], [[1.25, 4.0, 0.0], [-0.5, 2.0, 6.0]]
    return [
        _case("one row", [[1.0, 2.0]], [[1.25, 4.0]]),
        _case("one row of three quantiles", [[1.0, 2.0, 5.0]], [[1.25, 4.0, 0.0]]),
        _case("one row, κ = 2", [[0.0, -1.5, 3.0]], [[-0.5, 2.0, 6.0]], kappa=2.0),
        _case("two rows of two quantiles", [[1.0, 2.0], [0.0, -1.5]], [[1.25, 4.0], [-0.5, 2.0]]),
        _case("two rows of three quantiles", first, second),
        _case("two rows, κ = 2", first, second, kappa=2.0),
        _case("three rows of three quantiles", [*first, [2.5, 0.5, 1.0]], [*second, [3.25, -4.0, 1.5]]),
        _case("two rows, own fractions", first, second, tau=[[0.2, 0.9, 0.4], [0.7, 0.1, 0.5]]),
    ]


def drawn(draw: Any) -> Case:
    from hypothesis import strategies as st

    rows, count = draw(st.integers(1, 3)), draw(st.integers(2, 4))
    targets = draw(st.sampled_from([count, 2, 3]))

    def table(width: int, offset: float) -> Array:
        return (
            floats([draw(st.lists(st.integers(-4, 4), min_size=width, max_size=width)) for _ in range(rows)]) + offset
        )

    return _case(
        "drawn at random", table(count, 0.0), table(targets, 0.3), kappa=draw(st.sampled_from([1.0, 0.5, 2.0]))
    )


def fair(case: Case, bound: frozenset[str]) -> bool:
    """Without an argument for κ it is 1; without one for τ, or with one τ for all rows, they are the middles."""
    usual = bool(np.allclose(case["tau"], _middles(case["tau"].shape[1])))
    return bool("kappa" in bound or case["kappa"] == 1.0) and ("tau" in bound or usual)


def told(case: Case, bound: frozenset[str]) -> Case:
    return case.but(tau_given=bool(bound & {"tau", "one_tau"}))


def rebuild(given: Mapping[str, Any]) -> Case:
    quantiles = floats(given["quantiles"])
    tau = given.get("tau", given.get("one_tau"))
    tau = np.tile(_middles(quantiles.shape[1]), (len(quantiles), 1)) if tau is None else floats(tau)
    whole = np.broadcast_to(tau, quantiles.shape)
    return _case("from the program", quantiles, given["target"], whole, float(given.get("kappa", 1.0)))


def _styles() -> tuple[Style, ...]:
    made = []
    for kind, words in (("huber", ""), ("absolute", ", not Huber")):
        for rows, said in (("mean", ""), ("none", ", one for each row"), ("sum", ", summed over rows")):
            for over, summed in (
                ("sum-mean", "sum over predictions, mean over targets"), ("mean-mean", "mean over all pairs"),
                ("mean-sum", "mean over predictions, sum over targets"), ("sum-sum", "sum over all pairs"),
            ):  # fmt: skip
                made.append(Style(f"{summed}{said}{words}", {"over": over, "rows": rows, "kind": kind}))
    for over in ("sum-mean", "mean-mean", "mean-sum"):
        made.append(Style(f"{over}, not divided by κ", {"over": over, "kappa": "whole"}))
    return tuple(made)


_RIGHT = "loss = (tau[:, :, None] - (u.detach() < 0).float()).abs() * huber(u)  # u = target[:, None] - q[:, :, None]"
_PREDICTED = (
    "quantiles current_quantiles predicted_quantiles pred_quantiles quantile theta current_quantile quantiles_expected "
    "q_quantiles predictions pred preds dist_src thetas input current curr_quantiles online_quantiles predicted "
    "sa_quantiles q_expected quantile_values current_q q curr_dist dist quantile_preds quantile_pred z "
    "current_sa_quantiles"
)
_TARGETS = (
    "target_quantiles target targets quantiles_target next_quantiles target_quantile td_target theta_target "
    "target_thetas bellman_target q_targets target_dist target_values y target_sa_quantiles target_theta t_theta "
    "target_q target_z td_targets next_quantile samples expected"
)
_TAU = (
    "tau taus quantile_fractions cum_prob cum_probs tau_hat tau_hats fractions quantile_midpoints taus_hat "
    "midpoints quantile_taus quantile_levels quantile_tau cumulative_density"
)

QUANTILE_LOSS = Oracle(
    name="quantile-loss",
    aliases="quantile-huber quantile-huber-loss qr-dqn iqn quantile-regression-loss",
    code="VAL215",
    summary="The quantile Huber loss: each prediction beside each target, weighed by τ or 1 − τ.",
    formula="L = Σ_i mean_j |τ_i − 1(u_ij < 0)| huber_κ(u_ij) / κ,  u_ij = target_j − θ_i",
    example="def quantile_huber_loss(quantiles, target_quantiles, taus, kappa)",
    references="Dabney and others, *Distributional reinforcement learning with quantile regression*.",
    quantities=(
        Quantity("quantiles", _PREDICTED, "NI", meaning="predicted quantiles"),
        Quantity("target", _TARGETS, "NJ", meaning="target quantiles"),
        Quantity("quantile_column", _PREDICTED, "NIE", of=lambda case: case["quantiles"][:, :, None],
                 with_=("target_row",),
                 meaning="predicted quantiles, as rows × predictions × 1"),
        Quantity("target_row", _TARGETS, "NEJ", of=lambda case: case["target"][:, None, :],
                 with_=("quantile_column",),
                 meaning="target quantiles, as rows × 1 × targets"),
        Quantity("one_tau", _TAU, "I", of=lambda case: case["tau"][0], meaning="τ of each prediction"),
        Quantity("tau", _TAU, "NI", meaning="τ of each prediction, for each row"),
        Quantity("tau", "cum_prob cum_probs tau_hat tau_hats", "NIE", of=lambda case: case["tau"][:, :, None],
                 meaning="τ of each prediction, as rows × predictions × 1"),
        Quantity("tau", _TAU, "NIE", of=lambda case: case["tau"][:, :, None], with_=("quantile_column",),
                 meaning="τ of each prediction, as rows × predictions × 1"),
        Quantity("kappa", "kappa k huber_threshold delta threshold huber_kappa", kind="int", meaning="κ"),
        Quantity("number", "num_quantiles n_quantiles num_quant n_quant num_atoms n_atoms num_quants n_tau num_tau",
                 None, "object", of=lambda case: case["quantiles"].shape[1], meaning="number of quantiles"),
        Quantity("errors", "td_errors td_error errors error u diff pairwise_errors td bellman_errors", "NIJ",
                 of=lambda case: case["target"][:, None, :] - case["quantiles"][:, :, None],
                 without=("quantiles", "target"), meaning="target_j − θ_i, rows × predictions × targets"),
        Quantity("swapped_errors", "td_errors td_error errors error u diff pairwise_errors td bellman_errors", "NJI",
                 of=lambda case: case["target"][:, :, None] - case["quantiles"][:, None, :],
                 without=("quantiles", "target"), meaning="target_j − θ_i, rows × targets × predictions"),
    ),
    outputs=(Output("loss", "loss losses quantile_loss quantile_huber_loss element_wise_loss", "N"),),
    required=("quantiles|errors|swapped_errors|quantile_column", "target|errors|swapped_errors|target_row"),
    columns=("quantiles", "target", "tau"),
    reference=reference,
    variant=variant,
    cases=cases,
    drawn=drawn,
    fair=fair,
    told=told,
    rebuild=rebuild,
    adapt=forward_of,
    gradients=("quantiles",),
    layouts=("(N,)", "one row"),
    styles=_styles(),
    mistakes=(
        Mistake(
            "VAL216", "quantile-loss-tau-of-target", "τ lies along the targets, not along the predictions.",
            knobs={"axis": "target"},
            wrong="weight = (tau - (u < 0).float()).abs()  # u: rows × predictions × targets",
            right="weight = (tau[:, None] - (u < 0).float()).abs()",
            harm="All predictions get the same mix of weights: the quantiles collapse onto one value.",
            fix="give τ the axis of the predicted quantiles",
            seen_in="BY571/QR-DQN issue #1",
        ),
        Mistake(
            "VAL217", "quantile-loss-indicator-reversed", "1 − τ weighs errors above zero, not those below.",
            knobs={"below": "predicted"},
            wrong="weight = (tau - (u > 0).float()).abs()  # or u = prediction - target",
            right="weight = (tau - (u < 0).float()).abs()  # u = target - prediction",
            harm="The quantile for τ is learnt as that for 1 − τ: the distribution is turned over.",
            fix="count where target − prediction is below zero",
        ),
        Mistake(
            "VAL218", "quantile-loss-weight-signed", "The weight lacks its absolute value.",
            knobs={"absolute": False},
            wrong="weight = tau - (u < 0).float()",
            right="weight = (tau - (u < 0).float()).abs()",
            harm="Where the target lies below, the prediction is pushed away from it.",
            fix="take the absolute value of the weight",
        ),
        Mistake(
            "VAL219", "quantile-loss-not-weighed", "No τ weighs the errors: all quantiles learn the same value.",
            knobs={"weight": "none"},
            wrong="loss = huber(u)",
            right=_RIGHT,
            harm="The predictions have no reason to differ: the distribution collapses.",
            fix="multiply by |τ − 1(u < 0)|",
        ),
        Mistake(
            "VAL220", "quantile-loss-indicator-missing", "Errors are weighed by τ alone, on both sides.",
            knobs={"weight": "indicator"},
            wrong="loss = tau * huber(u)",
            right=_RIGHT,
            harm="Every prediction settles at the middle; τ only scales its learning rate.",
            fix="weigh by |τ − 1(u < 0)|",
        ),
        Mistake(
            "VAL221", "quantile-loss-not-pairwise", "Each prediction is compared with one target, not with all.",
            knobs={"pairs": "same"},
            wrong="u = target - quantiles",
            right="u = target[:, None, :] - quantiles[:, :, None]",
            harm="Each prediction follows one target quantile: there is no regression to a distribution.",
            fix="add an axis to both, so that all pairs are formed",
        ),
        Mistake(
            "VAL222", "quantile-loss-fractions-shifted", "The fractions are i / N or (i + 1) / N, not the middles.",
            knobs=({"fractions": "upper"}, {"fractions": "lower"}),
            wrong="tau = torch.arange(1, n + 1) / n",
            right="tau = (torch.arange(n) + 0.5) / n",
            harm="All quantiles are learnt too high, or too low; the last one is the maximum.",
            fix="use the middles of the n intervals",
        ),
        Mistake(
            "VAL223", "quantile-loss-always-squared", "There is no straight part: all errors are squared.",
            knobs={"kind": "squared"},
            wrong="loss = weight * 0.5 * u**2",
            right=_RIGHT,
            harm="These are expectiles, not quantiles.",
            fix="use the Huber loss with threshold κ",
        ),
        Mistake(
            "VAL224", "quantile-loss-half-missing", "The square near zero lacks its ½.",
            knobs={"kind": "half-missing"},
            wrong="huber = torch.where(u.abs() <= k, u**2, k * (u.abs() - 0.5 * k))",
            right="huber = torch.where(u.abs() <= k, 0.5 * u**2, k * (u.abs() - 0.5 * k))",
            harm="Small errors are pushed twice as hard as large ones.",
            fix="write 0.5 * u**2",
        ),
        Mistake(
            "VAL225", "quantile-loss-sign-flipped", "The loss has a minus.",
            knobs={"sign": -1.0},
            wrong="loss = -(weight * huber(u)).mean()",
            right="loss = (weight * huber(u)).mean()",
            harm="Every update takes the quantiles further from their targets.",
            fix="drop the minus",
        ),
    ),
)  # fmt: skip
