"""Trend: which part of a training loop gets slower in the course of a run."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from rldebug.evidence.timing import Timing, Window

GROUPS = 6
"""Stretches of a run that are compared; it must have at least as many windows."""

_PER_UPDATE = ("buffer sample", "loss", "backward", "optimizer", "target networks", "advantages")
_REFERENCE = 0.05  # share of the time that the other parts must take, to tell a slow part from a slow machine
_GRADUAL = 0.12  # of the slow-down lies between the first third and the second, and between that and the last

Series = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Trend:
    part: str
    unit: str  # env step or update
    first: float  # seconds of the part for each, in the first third of the run
    start: float  # at its very beginning, as far as can be told
    last: float  # in the last third
    slower: float  # the whole run, last third over first
    lost: float  # seconds beyond what the part would have taken at its pace at the start


def comparable(timing: Timing) -> list[Window]:
    """From the first update on: before, the loop does something else."""
    windows = [each for each in timing.windows if each.seconds > 0]
    if timing.updates:
        started = next((place for place, each in enumerate(windows) if each.updates), len(windows))
        windows = windows[started:]
    return windows


def slowest(timing: Timing, *, slower: float = 1.08, grown: float = 1.3, steadiness: float = 0.85) -> Trend | None:
    """The part that makes the run slower and slower. None where it keeps its pace, where it does less of one thing and
    more of another, and where everything slows alike, as on a machine that others use too."""
    windows = [_undisturbed(each) for each in comparable(timing)]
    if len(windows) < GROUPS:
        return None
    disturbed = sum(each.seconds for each in comparable(timing)) / max(sum(each.seconds for each in windows), 1e-12)
    groups = [list(each) for each in np.array_split(np.array(windows, dtype=object), GROUPS)]
    seconds = np.array([sum(each.seconds for each in group) for group in groups])
    units = {
        unit: counted
        for unit, counted in (
            ("env step", np.array([float(sum(each.env_steps for each in group)) for group in groups])),
            ("update", np.array([float(sum(each.updates for each in group)) for group in groups])),
        )
        if counted.any()
    }
    if not units or any((counted <= 0).any() for counted in units.values()):
        return None
    paces = [seconds / counted for counted in units.values()]
    # Longer episodes mean fewer updates a second, and not fewer steps: both must fall. Whether they do so all the way
    # is asked of the part alone: what else the machine does shakes the whole more.
    if any(_ratio(pace) < slower for pace in paces):
        return None
    overall = min(_ratio(pace) for pace in paces)
    plain = "env step" if "env step" in units else "update"
    found: list[Trend] = []
    for part in sorted({name for each in windows for name in each.parts}):
        spent = np.array([sum(each.parts.get(part, 0.0) for each in group) for group in groups])
        unit = "update" if part in _PER_UPDATE and "update" in units else plain
        own, rest = spent / units[unit], (seconds - spent) / units[plain]
        if part == "waiting" and not _steady(_computed(groups) / units[plain], grown, steadiness):
            continue  # those that are waited for do as much as ever: others have the cores
        if not _steady(own, grown, steadiness) or rest[:2].sum() < _REFERENCE * (seconds / units[plain])[:2].sum():
            continue
        lost = float((spent - _start(own) * units[unit]).clip(min=0.0).sum())
        whole = float((seconds - _start(seconds / units[plain]) * units[plain]).clip(min=0.0).sum())
        if _ratio(own) >= grown * _ratio(rest) and lost >= 0.5 * whole:
            found.append(
                Trend(part, unit, float(own[:2].mean()), _start(own), float(own[-2:].mean()), overall, disturbed * lost)
            )
    return max(found, key=lambda each: each.lost, default=None)


def _computed(groups: list[list[Window]]) -> Series:
    """Seconds of the processes that the program started."""
    return np.array([sum(each.children_cpu for each in group) for group in groups])


def _undisturbed(window: Window) -> Window:
    """As if it had had a core for itself: on a machine that others use too, all but waiting takes longer."""
    waits = window.parts.get("waiting", 0.0)
    awake = window.seconds - waits
    had = window.cpu / awake if window.cpu > 0 and awake > 0 else 1.0
    if had >= 1:
        return window
    parts = {name: spent if name == "waiting" else had * spent for name, spent in window.parts.items()}
    return replace(window, seconds=waits + had * awake, parts=parts)


def _start(cost: Series) -> float:
    """The first stretch has a slope of its own."""
    return min(max(float(cost[0] - 0.5 * (cost[1] - cost[0])), 0.0), float(cost[:2].mean()))


def _ratio(cost: Series) -> float:
    return float(cost[-2:].mean() / max(cost[:2].mean(), 1e-12))


def _steady(cost: Series, slower: float, steadiness: float) -> bool:
    """Whether it rises all the way, not in one step."""
    first, middle, last = (float(cost[place : place + 2].mean()) for place in (0, 2, 4))
    if first <= 0 or last < slower * first:
        return False
    if not first + _GRADUAL * (last - first) <= middle <= last - _GRADUAL * (last - first):
        return False
    ranks = np.argsort(np.argsort(cost))
    return bool(np.corrcoef(ranks, np.arange(len(cost)))[0, 1] >= steadiness)
