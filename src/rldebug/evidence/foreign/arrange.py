"""From a log to a Run: readings of ours, one for each line of the log.

Only what means the same is taken over, so that a rule that has what it needs may speak. What a log does not hold is not
made up: the rules that need it are skipped, and say so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.foreign.clock import env_steps_at, seconds_at, updates_at
from rldebug.evidence.foreign.doubtful import without_gaps
from rldebug.evidence.foreign.entropy import most_entropy
from rldebug.evidence.foreign.episodes import gathered, with_ends
from rldebug.evidence.foreign.known import Known, known_in, may_be_off_policy
from rldebug.evidence.foreign.log import Log, named
from rldebug.evidence.run import Reading, Run, RunError

_MOST = 50_000  # lines; of more, neighbours are taken together
_SETTINGS = {"gamma": ("gamma", "discount", "discount_factor"), "seed": ("seed",), "env": ("env_id", "env", "env_name")}


def run_of(log: Log) -> Run:
    """RunError where none of its names is known."""
    known, unknown = known_in(log)
    if not known:
        raise RunError(
            f"{log.path} is read as {log.kind}, and none of its {len(log.columns)} {log.thing}s is known "
            f"({named(unknown or sorted(log.columns))}); expected names such as charts/episodic_return "
            "(CleanRL) or rollout/ep_rew_mean (Stable-Baselines3)"
        )
    known, gaps = without_gaps(known)
    single = {name: each for name, each in known.items() if each.single}
    lined = {name: each for name, each in known.items() if not each.single}
    lines = with_ends(_lines(lined), single)
    numbers = _numbers(lines, lined, single)
    most = most_entropy(lined["policy/entropy"].column, log.columns) if "policy/entropy" in lined else None
    if most is not None:
        numbers = [_with_share(each, most) for each in numbers]
    env_steps, steps_told = env_steps_at(log, lines)
    updates, updates_told = updates_at(log, lines)
    seconds = seconds_at(log, lines)
    clocks = zip(updates.tolist(), env_steps.tolist(), seconds.tolist(), strict=True)
    readings = [
        Reading(update, env_step, when, own)
        for (update, env_step, when), own in zip(clocks, numbers, strict=True)
        if own
    ]
    if not readings:
        why = "; ".join((*log.problems, *gaps)) or "it tells only how fast the run went"
        raise RunError(f"{log.path} has nothing to judge: {why}")
    problems = [
        _understood(log, unknown),
        "a log tells only how a run went: its data, gradients, weights and shapes can be seen by `rldebug run`",
    ]
    if not steps_told:
        problems.append(f"no {log.thing} counts env steps: lines of the log stand for them")
    if not updates_told:
        problems.append("updates are counted in lines of the log")
    meta = {
        "name": log.path.resolve().name,
        "log": {"kind": log.kind, "known": {each.tag: name for name, each in known.items()}, "unknown": unknown},
        "off_policy": may_be_off_policy(log.columns),
        **_settings(log.settings),
    }
    return Run.of(readings, meta, problems=(*problems, *log.problems, *gaps))


def _lines(lined: Mapping[str, Known]) -> NDArray[np.int64]:
    """The steps at which anything was logged, but how fast it went."""
    steps = [each.column.step for name, each in lined.items() if not name.startswith("pace/")]
    lines = np.unique(np.concatenate(steps)) if steps else np.empty(0, dtype=np.int64)
    if len(lines) > _MOST:
        lines = lines[np.linspace(0, len(lines) - 1, _MOST).round().astype(np.int64)]
    return lines


def _numbers(
    lines: NDArray[np.int64], lined: Mapping[str, Known], single: Mapping[str, Known]
) -> list[dict[str, float]]:
    """Of each line, its numbers under our names."""
    numbers: list[dict[str, float]] = [{} for _ in range(len(lines))]
    for name, each in lined.items():
        places = np.searchsorted(lines, each.column.step)
        for place, value in zip(places.tolist(), each.column.value.tolist(), strict=True):
            # Of several on one line the last counts, but for one that is not finite.
            if place < len(numbers) and math.isfinite(numbers[place].get(name, 0.0)):
                numbers[place][name] = value
    for name, each in single.items():
        for place, own in gathered(name, lines, each).items():
            numbers[place] |= own
    return numbers


def _with_share(numbers: dict[str, float], most: float) -> dict[str, float]:
    entropy = numbers.get("policy/entropy")
    if entropy is None:
        return numbers
    return numbers | {"policy/entropy_rel": min(entropy / most, 1.0), "policy/entropy_max": most}


def _understood(log: Log, unknown: list[str]) -> str:
    total = len(log.columns)
    said = f"read from {log.kind}: {total - len(unknown)} of {total} {log.thing}s are known"
    return f"{said}; not {named(unknown)}" if unknown else said


def _settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """Of the program's settings, those that a report shows."""
    found: dict[str, Any] = {}
    for ours, names in _SETTINGS.items():
        value = next((given[name] for name in names if name in given), None)
        if ours == "env":
            found |= {"env": {"id": value}} if isinstance(value, str) else {}
        elif (number := _number(value)) is not None:
            found[ours] = number
    return found


def _number(value: Any) -> float | int | None:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    if not math.isfinite(number):
        return None
    return int(number) if number.is_integer() else number
