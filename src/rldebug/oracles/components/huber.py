"""The Huber loss, and smooth L1, which is the same divided by its threshold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rldebug.oracles.material.q_tables import forward_of
from rldebug.oracles.oracle import Array, Case, Mistake, Oracle, Output, Quantity, Style, Values, floats


def reference(case: Case) -> Values:
    count, delta = len(case["prediction"]), case["delta"]
    total, slope = 0.0, np.zeros(count)
    for i in range(count):
        error = case["prediction"][i] - case["target"][i]
        if abs(error) <= delta:
            total += 0.5 * error**2 / count
            slope[i] = error / count
        else:
            total += delta * (abs(error) - 0.5 * delta) / count
            slope[i] = (delta if error > 0 else -delta) / count
    return {"loss": np.asarray(total), "grad:prediction": slope, "grad:error": slope}


def variant(
    case: Case,
    *,
    reduction: str = "mean",  # mean, sum, none
    scale: str = "huber",  # huber, smooth-l1: divided by δ, twice
    half: float = 0.5,  # of the square
    offset: float = 0.5,  # times δ, subtracted from the linear part
    steep: str = "delta",  # slope of the linear part: delta, one, and one with an offset of ½, whatever δ is
    threshold: str = "delta",  # delta, one, none, signed (no absolute value)
    linear: str = "absolute",  # absolute, signed, one-sided, flat: the clipped error squared
    swapped: bool = False,
    power: int = 2,
    crossed: bool = False,
    sign: float = 1.0,
) -> Values:
    delta = case["delta"] if threshold != "one" else 1.0
    error = case["prediction"] - case["target"]
    if crossed:
        error = case["prediction"][:, None] - case["target"][None, :]
    size = np.abs(error)
    within = (error if threshold == "signed" else size) <= delta
    if threshold == "none":
        within = np.ones_like(within)
    if swapped:
        within = ~within
    factor = delta if steep == "delta" else 1.0
    length = error if linear == "signed" else size
    far = factor * (length - (0.5 if steep == "one-half" else offset * delta))
    far_slope = factor * (np.ones_like(error) if linear == "signed" else np.sign(error))
    if linear == "one-sided":
        far, far_slope = np.where(error < 0, 0.0, far), np.where(error < 0, 0.0, far_slope)
    if linear == "flat":
        far, far_slope = np.full_like(error, half * delta**2), np.zeros_like(error)
    near, near_slope = (half * error**2, 2.0 * half * error) if power == 2 else (half * size, half * np.sign(error))
    loss, slope = np.where(within, near, far), np.where(within, near_slope, far_slope)
    times = sign * {"huber": 1.0, "smooth-l1": 1.0 / delta, "twice": 2.0}[scale]
    loss, slope = times * loss, times * slope
    if reduction != "none":
        count = loss.size if reduction == "mean" else 1
        loss, slope = np.asarray(loss.sum() / count), slope / count
    slope = slope.sum(axis=1) if crossed else slope
    return {"loss": loss, "grad:prediction": slope, "grad:error": slope}


def _case(name: str, error: Any, delta: float) -> Case:
    target = floats([1.0, -2.0, 0.25, 3.0][: len(error)])
    return Case(name, {"prediction": target + floats(error), "target": target, "delta": delta}, edge=len(error) == 1)


def cases() -> list[Case]:
    return [
        _case("one small error", [0.25], 1.0),
        _case("one large error", [3.0], 1.0),
        _case("one large negative error", [-3.0], 1.0),
        _case("one error within δ = 2", [-1.5], 2.0),
        _case("one error beyond δ = 2", [-4.0], 2.0),
        _case("one error beyond δ = 0.5", [0.75], 0.5),
        _case("two small errors", [0.25, -0.5], 1.0),
        _case("two large errors", [3.0, -2.0], 1.0),
        _case("small and large errors", [0.25, -0.5, 3.0, -2.0], 1.0),
        _case("small and large errors, δ = 2", [0.5, -1.5, 3.0, -4.0], 2.0),
        _case("small and large errors, δ = 0.5", [0.25, -0.125, 3.0, -2.0], 0.5),
    ]


def drawn(draw: Any) -> Case:
    from hypothesis import strategies as st

    count = draw(st.integers(1, 4))
    values = st.lists(st.integers(-4, 4), min_size=count, max_size=count)
    target = floats(draw(values))
    given = {
        "prediction": floats(draw(values)) + 0.3,
        "target": target,
        "delta": draw(st.sampled_from([1.0, 0.5, 2.0])),
    }
    return Case("drawn at random", given, edge=count == 1)


def fair(case: Case, bound: frozenset[str]) -> bool:
    """Without an argument for it, the threshold is 1, or what the function says itself."""
    return bool("delta" in bound or case["delta"] == 1.0)


def rebuild(given: Mapping[str, Any]) -> Case:
    error = given.get("error")
    prediction = floats(error if error is not None else given["prediction"])
    target = np.zeros_like(prediction) if error is not None else floats(given["target"])
    return Case("from the program", {"prediction": prediction, "target": target, "delta": given.get("delta", 1.0)})


def _error(case: Case) -> Array:
    return np.asarray(case["prediction"] - case["target"])


def _styles() -> tuple[Style, ...]:
    made = []
    for scale, name in (("huber", "Huber"), ("smooth-l1", "smooth L1: Huber ÷ δ"), ("twice", "twice Huber")):
        for reduction, said in (("mean", "mean of "), ("sum", "sum of "), ("none", "")):
            made.append(Style(f"{said}{name}", {"scale": scale, "reduction": reduction}))
    return tuple(made)


_RIGHT = "torch.where(x.abs() <= delta, 0.5 * x**2, delta * (x.abs() - 0.5 * delta))"

HUBER = Oracle(
    name="huber",
    aliases="huber-loss smooth-l1 smooth-l1-loss",
    code="VAL200",
    summary="The Huber loss: a square near zero, a straight line beyond the threshold.",
    formula="½ x² where |x| ≤ δ, else δ (|x| − ½ δ); smooth L1 is that ÷ δ",
    example="def huber(prediction, target, delta)",
    references="Huber, *Robust estimation of a location parameter*.",
    quantities=(
        Quantity("prediction", "prediction predictions pred preds input inputs y_pred y_hat yhat output outputs q "
                 "q_values q_value current current_q values value estimate predicted q_pred q_values_taken a x "
                 "v1", "N", with_=("target",), meaning="what is predicted"),
        Quantity("target", "target targets y y_true true label labels td_target td_targets target_q expected q_target "
                 "returns b v2", "N", with_=("prediction",), meaning="what it should be"),
        Quantity("error", "error errors err x td_error td_errors diff difference delta_x residual residuals e td u z d "
                 "deltas tds td_delta delta tensor", "N", of=_error, without=("prediction", "target"),
                 meaning="prediction − target"),
        Quantity("delta", "delta kappa beta threshold k huber_delta d clip max_grad c huber_threshold "
                 "clip_delta clip_loss clip_value max_delta", meaning="δ"),
    ),
    outputs=(Output("loss", "loss losses huber huber_loss result out", "N"),),
    required=("error|prediction",),
    columns=("prediction", "target"),
    reference=reference,
    variant=variant,
    cases=cases,
    drawn=drawn,
    fair=fair,
    rebuild=rebuild,
    adapt=forward_of,
    gradients=("prediction", "error"),
    styles=_styles(),
    mistakes=(
        Mistake(
            "VAL201", "huber-half-missing", "The square near zero lacks its ½: the loss jumps at the threshold.",
            knobs={"half": 1.0},
            wrong="torch.where(x.abs() <= delta, x**2, delta * (x.abs() - 0.5 * delta))",
            right=_RIGHT,
            harm="Small errors are pushed twice as hard as large ones.",
            fix="write 0.5 * x**2",
        ),
        Mistake(
            "VAL202", "huber-offset-missing", "The straight part lacks −½ δ: the loss jumps at the threshold.",
            knobs={"offset": 0.0},
            wrong="torch.where(x.abs() <= delta, 0.5 * x**2, delta * x.abs())",
            right=_RIGHT,
            harm="The loss that is reported jumps; its gradient is right.",
            fix="subtract 0.5 * delta from |x|",
        ),
        Mistake(
            "VAL203", "huber-offset-doubled", "The straight part subtracts δ, where ½ δ is right.",
            knobs={"offset": 1.0},
            wrong="delta * (x.abs() - delta)",
            right="delta * (x.abs() - 0.5 * delta)",
            harm="The loss that is reported jumps; its gradient is right.",
            fix="subtract 0.5 * delta from |x|",
        ),
        Mistake(
            "VAL204", "huber-regions-swapped", "The square is taken for large errors, the line for small ones.",
            knobs={"swapped": True},
            wrong="torch.where(x.abs() > delta, 0.5 * x**2, delta * (x.abs() - 0.5 * delta))",
            right=_RIGHT,
            harm="Large errors dominate the gradient, which is what the loss is there to prevent.",
            fix="swap the two branches",
        ),
        Mistake(
            "VAL205", "huber-gradient-vanishes", "The clipped error is squared: large errors have no gradient.",
            knobs={"linear": "flat"},
            wrong="0.5 * x.clamp(-delta, delta)**2",
            right=_RIGHT,
            harm="Transitions with large errors, those to learn from, are ignored.",
            fix="clip the gradient, not the error",
            seen_in="devsisters/DQN-tensorflow issue #16; spragunr/deep_q_rl issue #46",
        ),
        Mistake(
            "VAL206", "huber-sign-ignored", "The error is compared without its absolute value.",
            knobs={"threshold": "signed"},
            wrong="torch.where(x <= delta, 0.5 * x**2, delta * (x.abs() - 0.5 * delta))",
            right=_RIGHT,
            harm="Large negative errors are squared: overestimates weigh more than underestimates, or less.",
            fix="compare |x| with δ",
        ),
        Mistake(
            "VAL207", "huber-slope-not-delta", "The straight part has slope 1, not δ: the loss has a kink.",
            knobs=({"steep": "one"}, {"steep": "one-half"}),
            wrong="torch.where(x.abs() <= delta, 0.5 * x**2, x.abs() - 0.5 * delta)",
            right=_RIGHT,
            harm="The gradient jumps at the threshold.",
            fix="multiply the straight part by δ",
            seen_in="tensorforce/tensorforce issue #139",
        ),
        Mistake(
            "VAL208", "huber-line-signed", "The straight part lacks the absolute value.",
            knobs={"linear": "signed"},
            wrong="torch.where(x.abs() <= delta, 0.5 * x**2, delta * (x - 0.5 * delta))",
            right=_RIGHT,
            harm="The loss falls without end for large negative errors.",
            fix="take |x| in the straight part",
        ),
        Mistake(
            "VAL209", "huber-always-squared", "There is no straight part: all errors are squared.",
            knobs={"threshold": "none"},
            wrong="0.5 * x**2",
            right=_RIGHT,
            harm="A few large errors dominate the gradient.",
            fix="use the straight part beyond δ",
            fine="Where a squared loss is wanted.",
        ),
        Mistake(
            "VAL210", "huber-threshold-ignored", "The threshold is always 1, whatever δ says.",
            knobs={"threshold": "one"},
            wrong="torch.where(x.abs() <= 1, 0.5 * x**2, x.abs() - 0.5)",
            right=_RIGHT,
            harm="The setting has no effect.",
            fix="use δ in all places",
        ),
        Mistake(
            "VAL211", "huber-broadcast", "(N, 1) beside (N,): every prediction is compared with every target.",
            knobs={"crossed": True},
            wrong="x = prediction.view(-1, 1) - target",
            right="x = prediction.view(-1) - target",
            harm="All predictions are pulled towards the mean target.",
            fix="give both the same shape",
        ),
        Mistake(
            "VAL213", "huber-negative-errors-lost", "Large negative errors give 0.",
            knobs={"linear": "one-sided"},
            wrong="(x.abs() <= delta) * 0.5 * x**2 + (x > delta) * delta * (x.abs() - 0.5 * delta)",
            right="(x.abs() <= delta) * 0.5 * x**2 + (x.abs() > delta) * delta * (x.abs() - 0.5 * delta)",
            harm="What is far too low is never corrected.",
            fix="compare |x| with δ in both parts",
        ),
        Mistake(
            "VAL212", "huber-square-missing", "Near zero the error is not squared.",
            knobs={"power": 1},
            wrong="torch.where(x.abs() <= delta, 0.5 * x.abs(), delta * (x.abs() - 0.5 * delta))",
            right=_RIGHT,
            harm="The gradient does not shrink near the target: values jitter around it.",
            fix="square the error within δ",
        ),
    ),
)  # fmt: skip
