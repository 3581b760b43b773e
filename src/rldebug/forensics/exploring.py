"""Exploring: for each step of the program, whether a network was asked for it, what it said, and what was done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Event, Script
from rldebug.forensics.batches import ambiguous, owned
from rldebug.forensics.roles import roles_of
from rldebug.forensics.target_next import chances

_BLIND = 0.1  # calls that may have been made to act, for each step, without our knowing of which observation
_AS_OFTEN = 0.9  # of steps, and of phases of learning, that environments have which are stepped in turn
_STANDARD = frozenset(
    {
        "Linear",
        "LazyLinear",
        "Conv1d",
        "Conv2d",
        "Conv3d",
        "Flatten",
        "Unflatten",
        "ReLU",
        "LeakyReLU",
        "ELU",
        "SELU",
        "GELU",
        "SiLU",
        "Tanh",
        "Sigmoid",
        "Softplus",
        "Mish",
        "Hardswish",
        "Identity",
        "LayerNorm",
        "BatchNorm1d",
        "BatchNorm2d",
        "GroupNorm",
        "Embedding",
        "MaxPool2d",
        "AvgPool2d",
        "AdaptiveAvgPool2d",
        "ReLU6",
        "Softsign",
    }
)  # layers that draw no numbers


@dataclass(frozen=True, eq=False)
class Steps:
    """Steps of the environment that is learned from, in one audit, in order. The first one is left out: the audit may
    have begun between its network call and its step."""

    audit: Audit
    places: NDArray[np.int64]  # in the nodes
    asked: NDArray[np.bool_]  # a trained network was called on the observation, before the step
    output: NDArray[np.float64]  # (steps, columns): the first output of that call; NaN where there was none
    module: str | None  # that was asked
    line: tuple[str, int] | None  # where it was asked

    def __len__(self) -> int:
        return len(self.places)

    @property
    def executed(self) -> NDArray[np.float64]:
        return np.asarray(self.audit.nodes.action[self.places])

    @property
    def updates(self) -> NDArray[np.int64]:
        return np.asarray(self.audit.nodes.update[self.places])

    def agrees(self, least: bool = False) -> NDArray[np.float64]:
        """1 where the action with the largest output was executed (the least: with the smallest), 0 where another."""
        with np.errstate(invalid="ignore"):
            best = np.nan_to_num(self.output, nan=0.0).argmin(axis=1) if least else _argmax(self.output)
        result: NDArray[np.float64] = (best == self.executed[:, 0]).astype(np.float64)
        result[~self.asked | ~np.isfinite(self.output).all(axis=1)] = np.nan
        return result


def _argmax(output: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.asarray(np.nan_to_num(output, nan=0.0).argmax(axis=1))


@lru_cache(maxsize=8)
def steps_of(script: Script) -> tuple[Steps, ...]:
    """Of each audit; empty where calls could not be told apart."""
    streams = in_turn(script)
    lanes = sum(int(each.get("lanes") or 1) for each in script.streams if int(each["index"]) in streams)
    found = []
    for audit in script.audits:
        nodes = audit.nodes
        if not len(nodes):
            continue
        mine = np.flatnonzero(
            np.isin(nodes.stream, streams) & nodes.acted & ~nodes.phantom & (nodes.phase >= audit.phase)
        )
        mine = mine[np.argsort(nodes.id[mine])][lanes:]
        if len(mine) < 8 or blind(script, audit, lanes) > _BLIND * len(mine) / lanes:
            continue
        found.append(_steps(script, audit, mine))
    return tuple(found)


def in_turn(script: Script) -> list[int]:
    """The environment that is learned from, with those that are stepped in turn with it: a list of environments."""
    stream = roles_of(script).stream
    main = next((each for each in script.streams if int(each["index"]) == stream), None)
    if main is None:
        return []
    return [
        int(each["index"])
        for each in script.streams
        if each is main
        or (
            all(each.get(name) == main.get(name) for name in ("name", "kind", "shape", "lanes"))
            and each.get("learned")
            and _alike(each, main, "steps")
            and _alike(each, main, "phases")
        )
    ]


def _alike(one: Mapping[str, Any], other: Mapping[str, Any], name: str) -> bool:
    counts = int(one.get(name) or 0), int(other.get(name) or 0)
    return min(counts) >= _AS_OFTEN * max(counts)


def blind(script: Script, audit: Audit, lanes: int) -> int:
    """Calls without gradients of as many rows as there are lanes, on rows that are not known, or look like several:
    what was acted on now may have been taken for what looked the same before."""
    count = 0
    for event in audit.calls:
        rows = event.arrays.get("rows")
        if event["grad"] or event.get("acting") or rows is None or not len(rows) or event["match"] == "tag":
            continue
        calls = int(event.get("calls") or 1)
        unsure = rows < 0
        if str(event["module"]) in valued(script):
            unsure = ambiguous(audit.nodes, audit.nodes.index(rows))
        if unsure.mean() > 0.5 and len(rows) <= calls * lanes:
            count += calls
    return count


def _steps(script: Script, audit: Audit, mine: NDArray[np.int64]) -> Steps:
    place = {int(audit.nodes.id[each]): at for at, each in enumerate(mine)}
    asked = np.zeros(len(mine), dtype=bool)
    output = np.empty((len(mine), 0))
    module: str | None = None
    line: tuple[str, int] | None = None
    for event in _preferred(script, audit):
        rows, values = event.arrays["rows"], event.arrays.get("output0")
        values = None if values is None else per_action(script, values)
        at = np.array([place.get(int(each), -1) for each in rows], dtype=np.int64)
        if values is None or len(values) != len(rows) or not (at >= 0).any():
            asked[at[at >= 0]] = True
            continue
        if module is None:
            module, output = str(event["module"]), np.full((len(mine), values.shape[1]), np.nan)
            line = (str(event["line"][0]), int(event["line"][1])) if event.get("line") else None
        asked[at[at >= 0]] = True
        if module == event["module"] and values.shape[1] == output.shape[1]:
            output[at[at >= 0]] = values[at >= 0]
    return Steps(audit, mine, asked, output, module, line)


def per_action(script: Script, output: NDArray[np.float64]) -> NDArray[np.float64]:
    """One number for each action, where the network gives a distribution of returns for each; else as it is."""
    actions, (atoms, quantiles) = discrete(script), _spread(script)
    wide = output.reshape(len(output), -1)
    if actions is None or not len(wide):
        return output
    if atoms and wide.shape[1] == actions * atoms:
        chance = chances(np.asarray(wide, dtype=np.float64), atoms)
        return output if chance is None else np.asarray(chance @ np.arange(atoms))
    if quantiles and wide.shape[1] == actions * quantiles and (output.ndim == 2 or output.shape[1] == actions):
        return np.asarray(wide.reshape(len(wide), actions, quantiles).mean(axis=2))
    return output


@lru_cache(maxsize=8)
def _spread(script: Script) -> tuple[int, int]:
    """Of how many atoms, or quantiles, the returns are that are learned for each action."""
    for _, term in script.events("term"):
        target, spread = term.arrays.get("target"), term.arrays.get("spread")
        if (
            term.get("op") == "soft-cross-entropy"
            and "index" in term.arrays
            and target is not None
            and target.ndim == 2
        ):
            return int(target.shape[1]), 0
        if term["kind"] == "regression" and spread is not None and "index" in term.arrays:
            shape = (term.get("shapes") or {}).get("prediction") or [0]
            return 0, max(int(each) for each in shape[1:]) if len(shape) > 1 else 0
    return 0, 0


def _preferred(script: Script, audit: Audit) -> list[Event]:
    """Acting calls; those of a network that is trained as a whole first, and the more often called ones."""
    roles = roles_of(script)
    chosen = roles.q | roles.policy
    calls = [each for each in audit.acting if "rows" in each.arrays]
    return sorted(calls, key=lambda each: (each["module"] not in chosen, not owned(script, str(each["module"]))))


def discrete(script: Script) -> int | None:
    """The number of actions of the environment that is learned from; None where they are not single whole numbers."""
    stream = roles_of(script).stream
    if stream is None or stream >= len(script.streams):
        return None
    each = script.streams[stream]
    count = (each.get("facts") or {}).get("action_n")
    if count:
        return int(count)
    counts = (each.get("action") or {}).get("counts")
    return len(counts) if counts and 2 <= len(counts) <= 64 else None


def valued(script: Script) -> frozenset[str]:
    """Networks that learn a value for each action."""
    return roles_of(script).q


def draws_nothing(script: Script, module: str) -> bool:
    """All its layers are known, and none of them draws random numbers."""
    layers = script.modules.get(module, {}).get("layers") or {}
    return bool(layers) and set(layers) <= _STANDARD


def sampled(script: Script) -> bool:
    """Whether actions may be drawn from a distribution: something was sampled in a call of few rows."""
    return any(
        int(event.get("calls") or 1) >= 4 or len(event.arrays.get("result", ())) <= 64
        for _, event in script.events("sample")
    )


def lower_bound(hits: int, of: int, z: float = 2.6) -> float:
    """Of a share, by Wilson."""
    if not of:
        return 0.0
    share = min(max(hits / of, 0.0), 1.0)  # hits that are estimated, such as random actions, may be more than all
    centre = share + z * z / (2 * of)
    return float((centre - z * np.sqrt(share * (1 - share) / of + z * z / (4 * of * of))) / (1 + z * z / of))


def upper_bound(hits: int, of: int, z: float = 2.6) -> float:
    return 1.0 - lower_bound(of - hits, of, z)


def random_steps(script: Script) -> list[tuple[Steps, NDArray[np.bool_]]] | None:
    """Which steps were taken at random: no network was asked, or it was and another action than its best was taken.

    None where that cannot be told: actions drawn from a distribution, or outputs that are no values of the actions.
    """
    count = discrete(script)
    if count is None or count < 2 or sampled(script) or not valued(script):
        return None
    found = []
    for steps in steps_of(script):
        taken = ~steps.asked
        if steps.output.shape[1] == count and steps.module in valued(script):
            taken = taken | (steps.agrees() == 0)
        found.append((steps, taken))
    return found or None


def chance_agreement(script: Script, since: int) -> tuple[float, int]:
    """How often the executed action is the best by what the network says when it learns from it, and of how many rows.

    Of steps after so many updates. A network that chose them unseen would agree far more often than by chance.
    """
    count = discrete(script)
    hits = rows = 0
    for audit in script.audits:
        if audit.update < since or count is None:
            continue
        for event in audit.calls:
            output, ids = event.arrays.get("output0"), event.arrays.get("rows")
            if not event["grad"] or event["module"] not in valued(script) or output is None or ids is None:
                continue
            if output.ndim != 2 or output.shape != (len(ids), count):
                continue
            places = audit.nodes.index(ids)
            keep = (places >= 0) & np.where(places >= 0, audit.nodes.acted[places], False)
            keep &= np.where(places >= 0, audit.nodes.update[places] >= since, False)
            hits += int((output[keep].argmax(axis=1) == audit.nodes.action[places[keep], 0]).sum())
            rows += int(keep.sum())
    return (hits / rows if rows else 0.0), rows
