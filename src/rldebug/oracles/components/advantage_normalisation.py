"""Normalising advantages: zero mean and unit deviation over the whole batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rldebug.oracles.material.policies import RETURN_NAMES
from rldebug.oracles.oracle import Array, Case, Mistake, Oracle, Output, Quantity, Style, Values, flags, floats


def reference(case: Case) -> Values:
    counted = [float(a) for a, counts in zip(case["advantage"].ravel(), case["mask"].ravel(), strict=True) if counts]
    mean = sum(counted) / len(counted)
    spread = (sum((each - mean) ** 2 for each in counted) / (len(counted) - 1)) ** 0.5
    return {"normalised": np.asarray([[(a - mean) / (spread + 1e-8) for a in row] for row in case["advantage"]])}


def variant(
    case: Case,
    *,
    ddof: int = 1,  # style
    constant: str = "zero",  # style: where all are the same: zero, nan, kept
    padding: str = "normalised",  # style: rows that do not count: normalised too, or zero
    mean_over: str = "all",  # all, T, B, first
    std_over: str = "all",
    centre: float = 1.0,
    scale: str = "std",  # std, none, variance, times, rms, range
    sign: float = 1.0,
    eps: float = 1e-8,
    masked: bool = True,
    bracket: bool = True,  # False: only the mean is divided
) -> Values:
    advantage = case["advantage"]
    counts = case["mask"].astype(np.float64) if masked else np.ones_like(advantage)
    mean = _mean(advantage, counts, mean_over)
    spread = _spread(advantage, counts, std_over, ddof, about=0.0 if scale == "rms" else None)
    if scale == "range":
        mean, spread = np.asarray(advantage.min()), np.asarray(advantage.max() - advantage.min())
    if constant == "kept" and scale == "std" and np.all(spread == 0.0):
        return {"normalised": sign * advantage}
    small = 0.0 if constant == "nan" else eps
    with np.errstate(divide="ignore", invalid="ignore"):
        divisor = {"none": np.ones(()), "variance": spread**2 + small, "times": 1.0 / (spread + small)}.get(
            scale, spread + small
        )
        result = sign * (advantage - centre * mean) / divisor
        result = result if bracket else sign * (advantage - centre * mean / divisor)
    if padding == "zero":
        result = np.where(case["mask"], result, 0.0)
    return {"normalised": result}


def _axis(over: str) -> int | None:
    return {"T": 0, "B": 1}.get(over)


def _mean(values: Array, counts: Array, over: str) -> Array:
    if over == "first":
        values, counts = values[:, :1], counts[:, :1]
    axis = _axis(over)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((values * counts).sum(axis, keepdims=True) / counts.sum(axis, keepdims=True))


def _spread(values: Array, counts: Array, over: str, ddof: int, about: float | None = None) -> Array:
    if over == "first":
        values, counts = values[:, :1], counts[:, :1]
    axis = _axis(over)
    centre = _mean(values, counts, over) if about is None else about
    with np.errstate(divide="ignore", invalid="ignore"):
        total = (counts * (values - centre) ** 2).sum(axis, keepdims=True)
        return np.asarray(np.sqrt(total / (counts.sum(axis, keepdims=True) - (ddof if about is None else 0))))


def _case(name: str, advantage: Any, mask: Any = None) -> Case:
    values = floats(advantage)
    values = values[:, None] if values.ndim == 1 else values
    ones = np.ones(values.shape, dtype=bool)
    value = 1.0 + 0.5 * np.arange(values.size).reshape(values.shape)
    return Case(
        name, {"advantage": values, "value": value, "mask": ones if mask is None else flags(mask).reshape(values.shape)}
    )


def cases() -> list[Case]:
    return [
        _case("two steps", [1, 4]),
        _case("three steps", [1, 2, 6]),
        _case("four steps", [-1, 5, 2, -4]),
        _case("three steps, all the same", [2, 2, 2]),
        _case("two environments", [[1, 5], [2, 9]]),
        _case("two environments on different scales", [[1, 10], [2, 40], [4, -20]]),
        _case("three environments", [[1, -2, 5], [3, 0, 9], [-4, 1, 2], [6, 2, -3]]),
        _case("four steps, one of which does not count", [1, 3, 8, 40], [1, 1, 1, 0]),
        _case("two environments, two steps do not count", [[1, 5], [3, 30], [8, 50]], [[1, 1], [1, 0], [1, 0]]),
    ]


def drawn(draw: Any) -> Case:
    from hypothesis import strategies as st
    from hypothesis.extra import numpy as arrays

    shape = draw(st.integers(2, 4)), draw(st.integers(1, 3))
    values = draw(arrays.arrays(np.int64, shape, elements=st.integers(-4, 4)).filter(lambda a: a.std() > 0.5))
    return _case("drawn at random", values)


def fair(case: Case, bound: frozenset[str]) -> bool:
    return bool(np.all(case["mask"])) or "mask" in bound


def rebuild(given: Mapping[str, Any]) -> Case:
    advantage = given["advantage"] if "advantage" in given else given["return"] - given["value"]
    mask = given.get("mask", np.ones(np.shape(advantage), dtype=bool))
    return Case("from the program", {"advantage": advantage, "value": np.zeros_like(advantage), "mask": mask})


_STYLES = tuple(
    Style(", ".join(filter(None, (by, same, pad))) or "usual", {"ddof": ddof, "constant": constant, "padding": padding})
    for padding, pad in (("normalised", ""), ("zero", "0 where a step does not count"))
    for constant, same in (
        ("zero", ""),
        ("nan", "no ε: NaN where all are the same"),
        ("kept", "as they are where all are the same"),
    )
    for ddof, by in ((1, ""), (0, "÷N"))
)  # fmt: skip

_VALUE = "values value v vals value_preds value_pred baseline baselines vpred vpreds state_values"


def _with_last(returns: bool) -> Callable[[Case], Array]:
    def of(case: Case) -> Array:
        rows = case["value"] + case["advantage"] if returns else case["value"]
        return np.concatenate([rows, np.full_like(rows[:1], 50.0 if returns else 7.0)])

    return of


_HARM = "The size of the update depends on what normalising was meant to remove."

ADVANTAGE_NORMALISATION = Oracle(
    name="advantage-normalisation",
    aliases="normalise-advantages normalize-advantages advantage-normalization normalise-advantage normalize-advantage "
    "whiten",
    code="ADV140",
    summary="Advantages with zero mean and unit deviation, over all steps and environments of a batch.",
    formula="Â = (A − mean(A)) / (std(A) + ε), over all steps and environments",
    example="def normalise(advantages)",
    references="Andrychowicz and others, *What matters in on-policy reinforcement learning?*",
    quantities=(
        Quantity("advantage", "advantage advantages adv advs a gae gaes x values data arr tensor xs returns rewards "
                 "scores returns_to_go rewards_to_go r", "TB", without=("value",), meaning="advantages"),
        Quantity("return", "returns return ret rets targets td_target td_targets td_lambda_target value_targets "
                 "lambda_returns q_values q_vals td_lamda_target g rewards_to_go", "TB",
                 of=lambda case: case["advantage"] + case["value"], with_=("value",), meaning="returns"),
        Quantity("value", _VALUE, "TB", meaning="V(s)"),
        Quantity("return_and_last", RETURN_NAMES, "UB", of=_with_last(True), with_=("value_and_last",), reserve=True,
                 meaning="returns, and one after the last step"),
        Quantity("value_and_last", _VALUE, "UB", of=_with_last(False), with_=("return_and_last",), reserve=True,
                 meaning="V(s), and that after the last step"),
        Quantity("eps", "eps epsilon e adv_eps", None, "object", of=lambda case: 1e-8, meaning="ε"),
        Quantity("mask", "mask masks loss_mask valid valid_mask response_mask padding_mask", "TB", "flag",
                 meaning="1 where the step counts"),
    ),
    outputs=(
        Output("normalised", "normalised normalized normalized_advantages normalised_advantages norm_adv norm_advs "
               "advantages_normalized adv_norm whitened", "TB"),
    ),
    required=("advantage|return|return_and_last",),
    columns=("advantage", "mask"),
    reference=reference,
    variant=variant,
    cases=cases,
    drawn=drawn,
    fair=fair,
    rebuild=rebuild,
    styles=_STYLES,
    mistakes=(
        Mistake(
            "ADV141", "advantage-normalisation-per-environment", "Each environment is normalised by itself.",
            knobs=({"mean_over": "T", "std_over": "T"}, {"mean_over": "T"}, {"std_over": "T"}),
            wrong="adv = (adv - adv.mean(0)) / (adv.std(0) + 1e-8)",
            right="adv = (adv - adv.mean()) / (adv.std() + 1e-8)",
            harm="An environment where all went well looks like one where all went badly.",
            fix="take mean and deviation over all steps and environments",
            fine="Where it is only ever given one flat batch, (N,): there it is right.",
        ),
        Mistake(
            "ADV142", "advantage-normalisation-per-step", "Each step is normalised by itself, across environments.",
            knobs=({"mean_over": "B", "std_over": "B"}, {"mean_over": "B"}, {"std_over": "B"}),
            wrong="adv = (adv - adv.mean(1, keepdim=True)) / (adv.std(1, keepdim=True) + 1e-8)",
            right="adv = (adv - adv.mean()) / (adv.std() + 1e-8)",
            harm="With few environments the advantages are mostly noise; with one they are 0 or NaN.",
            fix="take mean and deviation over all steps and environments",
        ),
        Mistake(
            "ADV143", "advantage-normalisation-not-centred", "The mean is not subtracted.",
            knobs={"centre": 0.0},
            wrong="adv = adv / (adv.std() + 1e-8)",
            right="adv = (adv - adv.mean()) / (adv.std() + 1e-8)",
            harm="Where all advantages are positive, every action is made more likely.",
            fix="subtract the mean",
            fine="Where only the scale is meant to be removed.",
        ),
        Mistake(
            "ADV144", "advantage-normalisation-not-scaled", "Nothing is divided by the deviation.",
            knobs={"scale": "none"},
            wrong="adv = adv - adv.mean()",
            right="adv = (adv - adv.mean()) / (adv.std() + 1e-8)",
            harm=_HARM,
            fix="divide by the standard deviation",
            fine="Where only the mean is meant to be removed.",
        ),
        Mistake(
            "ADV145", "advantage-normalisation-by-variance", "Divided by the variance, not by the standard deviation.",
            knobs={"scale": "variance"},
            wrong="adv = (adv - adv.mean()) / (adv.var() + 1e-8)",
            right="adv = (adv - adv.mean()) / (adv.std() + 1e-8)",
            harm="Large advantages become small and small ones large.",
            fix="divide by the square root of the variance",
        ),
        Mistake(
            "ADV146", "advantage-normalisation-sign-flipped", "The advantages are subtracted from their mean.",
            knobs={"sign": -1.0},
            wrong="adv = (adv.mean() - adv) / (adv.std() + 1e-8)",
            right="adv = (adv - adv.mean()) / (adv.std() + 1e-8)",
            harm="The policy learns to do what works worst.",
            fix="subtract the mean from the advantages",
        ),
        Mistake(
            "ADV147", "advantage-normalisation-multiplied", "Multiplied by the deviation, not divided.",
            knobs={"scale": "times"},
            wrong="adv = (adv - adv.mean()) * adv.std()",
            right="adv = (adv - adv.mean()) / (adv.std() + 1e-8)",
            harm="Large advantages become larger still.",
            fix="divide by the standard deviation",
        ),
        Mistake(
            "ADV148", "advantage-normalisation-epsilon-large", "What is added to the deviation is not small.",
            knobs=({"eps": 1.0}, {"eps": 0.1}, {"eps": 0.01}, {"eps": 0.5}),
            wrong="adv = (adv - adv.mean()) / (adv.std() + 1)",
            right="adv = (adv - adv.mean()) / (adv.std() + 1e-8)",
            harm=_HARM,
            fix="add 1e-8 to 1e-5",
        ),
        Mistake(
            "ADV149", "advantage-normalisation-deviation-about-zero", "The deviation is taken about 0, not the mean.",
            knobs=({"scale": "rms"}, {"scale": "rms", "centre": 0.0}),
            wrong="adv = (adv - adv.mean()) / adv.pow(2).mean().sqrt()",
            right="adv = (adv - adv.mean()) / (adv.std() + 1e-8)",
            harm="Where the mean is far from 0, what is left of the advantages is small.",
            fix="take the deviation about the mean",
        ),
        Mistake(
            "ADV150", "advantage-normalisation-to-range", "Scaled to 0 … 1 by the smallest and the largest.",
            knobs={"scale": "range"},
            wrong="adv = (adv - adv.min()) / (adv.max() - adv.min() + 1e-8)",
            right="adv = (adv - adv.mean()) / (adv.std() + 1e-8)",
            harm="No advantage is negative, so no action is ever made less likely.",
            fix="subtract the mean and divide by the standard deviation",
        ),
        Mistake(
            "ADV151", "advantage-normalisation-of-first-only", "Mean and deviation are those of the first environment.",
            knobs={"mean_over": "first", "std_over": "first"},
            wrong="mean, std = adv[:, 0].mean(), adv[:, 0].std()",
            right="mean, std = adv.mean(), adv.std()",
            harm="The other environments are neither centred nor scaled.",
            fix="take mean and deviation over all environments",
            seen_in="ServiceNow/PipelineRL#54",
        ),
        Mistake(
            "ADV152", "advantage-normalisation-mask-ignored", "Steps that do not count are part of mean and deviation.",
            knobs={"masked": False},
            wrong="adv = (adv - adv.mean()) / (adv.std() + 1e-8)",
            right="adv = (adv - adv[mask].mean()) / (adv[mask].std() + 1e-8)",
            harm="Padding shifts and scales the advantages.",
            fix="take mean and deviation where the mask is set",
        ),
        Mistake(
            "ADV153", "advantage-normalisation-bracket-missing", "Only the mean is divided by the deviation.",
            knobs={"bracket": False},
            wrong="adv = adv - adv.mean() / (adv.std() + 1e-8)",
            right="adv = (adv - adv.mean()) / (adv.std() + 1e-8)",
            harm=_HARM,
            fix="put a bracket around the difference",
        ),
    ),
)  # fmt: skip
