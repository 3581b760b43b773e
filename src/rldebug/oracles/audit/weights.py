"""Importance weights: held against the probabilities of the rows they came with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldebug.oracles.audit.coding import Report, Step
from rldebug.oracles.audit.drive import BETA, Scene


@dataclass
class Session:
    """A buffer whose rows got priorities, and what was then sampled."""

    scene: Scene
    error: dict[int, float]  # step -> the TD error its priority was set from
    alpha: float
    beta: float | None  # None: it changes from call to call, or is not known
    takes: tuple[str, ...]
    calls: list[list[int]] = field(default_factory=list)  # steps, row by row
    weights: list[NDArray[Any]] = field(default_factory=list)
    steps: Mapping[int, Step] = field(default_factory=dict)


def check_weights(session: Session, report: Report) -> None:
    if not session.weights:
        report.note("no field of its samples is an importance weight: only the sampling was looked at")
        return
    errors, alpha = session.error, session.alpha
    total = sum(error**alpha for error in errors.values())
    powers: list[float] = []
    for numbers, weights in zip(session.calls[:200], session.weights[:200], strict=False):
        chance = np.array([errors[number] ** alpha / total for number in numbers])
        if len(set(chance.tolist())) < 2:
            powers.append(powers[-1] if powers else float("nan"))
            continue
        high, low = int(np.argmax(chance)), int(np.argmin(chance))
        if weights[high] <= 0 or weights[low] <= 0:
            report.add("", f"an importance weight of {min(weights):g}", "weights above 0")
            return
        power = float(np.log(weights[low] / weights[high]) / np.log(chance[high] / chance[low]))
        fits = np.allclose(np.log(weights / weights[high]), power * np.log(chance[high] / chance), atol=0.12)
        if not fits:
            report.add("weights-of-other-rows", *_seen(session, numbers, weights, chance))
            return
        powers.append(power)
    powers = [each for each in powers if not np.isnan(each)]
    if not powers:
        return
    first = next(k for k, each in enumerate(session.calls) if len({errors[n] for n in each}) > 1)
    numbers, weights = session.calls[first], session.weights[first]
    chance = np.array([errors[number] ** alpha / total for number in numbers])
    seen = _seen(session, numbers, weights, chance)
    power, beta = float(np.median(powers)), session.beta
    steady = max(powers) - min(powers) < 0.05
    wanted = [beta] if beta is not None and steady else []
    if all(abs(each) < 1e-6 for each in powers):
        report.add("weights-all-one", *seen)
    elif max(powers) < -0.01:
        report.add("weights-sign-flipped", *seen)
    elif wanted and abs(power - BETA) > 0.04:
        name = {True: "weights-without-alpha"}.get(abs(power - BETA / alpha) < 0.06, "")
        name = "weights-beta-missing" if abs(power - 1.0) < 0.05 else name
        report.add(name, *seen)
    elif not wanted and not 0.0 < power < 1.06:
        report.add("", *seen)
    else:
        _normalised(session, report, powers, total, seen)


def _normalised(session: Session, report: Report, powers: list[float], total: float, seen: tuple[str, str]) -> None:
    rows, alpha = len(session.error), session.alpha
    least = min(session.error.values())
    if all(abs(float(np.max(weights)) - 1.0) < 1e-3 for weights in session.weights[:200]):
        return  # by the highest of the batch
    whole = [
        (np.array([session.error[n] for n in each]) / least) ** (-alpha * p)
        for each, p in zip(session.calls, powers, strict=False)
    ]
    if all(np.allclose(w, each, rtol=0.15) for w, each in zip(session.weights, whole, strict=False)):
        return  # by the highest of the buffer
    numbers, weights = session.calls[0], session.weights[0]
    plain_ = [(rows * session.error[n] ** alpha / total) ** -powers[0] for n in numbers]
    raw = [(session.error[n] ** alpha / total) ** -powers[0] for n in numbers]
    known = any(np.allclose(weights, each, rtol=0.1) for each in (plain_, raw, np.array(raw) / np.sum(raw)))
    report.add("weights-not-normalised" if known else "", *seen)


def _seen(session: Session, numbers: list[int], weights: NDArray[Any], chance: NDArray[Any]) -> tuple[str, str]:
    beta = BETA if session.beta is None else session.beta
    right = (chance / chance.min()) ** -beta
    theirs = ", ".join(f"{weight:.3g}" for weight in weights)
    chances = ", ".join(f"{each:.3g}" for each in chance)
    return (
        f"weights {theirs} for probabilities {chances}",
        f"{', '.join(f'{each:.3g}' for each in right)} (β = {beta:g})",
    )
