"""Chances: the distribution of a loss over all actions, row by row, and how unlikely the chosen ones are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Event, Script
from rldebug.forensics.surrogates import Surrogate, surrogates

_KNOWN = 0.8  # share of rows, of those that a network was asked about step by step


@dataclass(frozen=True, eq=False)
class Choices:
    """Log-probs of the chosen actions in rows of one loss, and what they should be on average."""

    surrogate: Surrogate
    logp: NDArray[np.float64]
    entropy: NDArray[np.float64]
    table: NDArray[np.float64] | None  # log-probs of all actions, where they are known
    actions: int | None  # how many there are


@lru_cache(maxsize=8)
def choices(script: Script) -> tuple[Choices, ...]:
    """Of the first loss after acting, in each audit: later on the distribution is another one."""
    return tuple(_choices(script))


def _choices(script: Script) -> Iterator[Choices]:
    for each in surrogates(script):
        term = each.term
        logp, index = term.arrays.get("logp"), term.arrays.get("index")
        if not each.fresh or logp is None or index is None or term.get("family") != "categorical":
            continue
        logp, index = np.ravel(logp).astype(np.float64), np.ravel(index).astype(np.int64)
        if len(index) != len(logp) or not np.isfinite(logp).all():
            continue
        counted = each.counted
        keep = counted if counted is not None and len(counted) == len(logp) else np.ones(len(logp), dtype=bool)
        table = table_of(each.audit, term, logp, index)
        if table is None and (found := _step_by_step(each.audit, term, logp, index)) is not None:
            table, known = found
            keep = keep & known
        if table is not None:
            entropy = -(np.exp(table) * np.where(np.isfinite(table), table, 0.0)).sum(axis=1)
            yield Choices(each, logp[keep], entropy[keep], table[keep], table.shape[1])
            continue
        beside = next((one for one in each.beside if one["kind"] == "entropy" and one["op"] == "p-log-p"), None)
        rows = None if beside is None else beside.arrays.get("entropy")
        if rows is not None and rows.size == len(logp):
            entropy = np.ravel(rows).astype(np.float64)
            yield Choices(each, logp[keep], entropy[keep], None, _actions(script, entropy))


def _actions(script: Script, entropy: NDArray[np.float64]) -> int | None:
    """The number of actions: that of the environment, or told by a policy that was nearly uniform somewhere."""
    counts = {(each.get("facts") or {}).get("action_n") for each in script.streams}
    if len(counts) == 1 and (only := counts.pop()):
        return int(only) if int(only) >= 2 else None
    count = round(float(np.exp(entropy.max())))
    return count if count >= 2 and abs(float(entropy.max()) - np.log(count)) < 0.01 else None


def table_of(
    audit: Audit, term: Event, logp: NDArray[np.float64], index: NDArray[np.int64]
) -> NDArray[np.float64] | None:
    """Log-probs of all actions, from the output of the network that the loss stands on."""
    for event in audit.calls:
        output, orders = event.arrays.get("output0"), event.arrays.get("orders")
        if not event["grad"] or output is None or output.ndim != 2 or output.shape[1] <= max(int(index.max()), 1):
            continue
        if event["module"] not in (term.get("reached") or ()) or output.shape[1] > 63:
            continue
        before = np.arange(len(output))
        if orders is not None and len(orders) == len(output):
            before = np.flatnonzero(orders < term.order)
            if not len(before):
                continue
            newest = np.flatnonzero(orders == orders[before].max())
        else:
            newest = before
        for rows in (newest, _by_row(term, event, before)):
            if rows is None or len(rows) != len(logp):
                continue
            numbers = output[rows].astype(np.float64)
            for table in _tables(numbers):
                if np.allclose(table[np.arange(len(rows)), index], logp, atol=1e-4):
                    return table
    return None


def _step_by_step(
    audit: Audit, term: Event, logp: NDArray[np.float64], index: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]] | None:
    """Called once per step: put together row by row, and which rows are known. The first call may lie before the
    audit, which begins with a step of the environment."""
    wanted = term.arrays.get("rows")
    if wanted is None or len(wanted) != len(logp) or (wanted < 0).any() or len(np.unique(wanted)) != len(wanted):
        return None
    for module in term.get("reached") or ():
        said: dict[int, NDArray[np.float64]] = {}
        for event in audit.calls:
            output, rows = event.arrays.get("output0"), event.arrays.get("rows")
            if event["module"] != module or not event["grad"] or event.order > term.order or rows is None:
                continue
            if output is not None and output.ndim == 2 and max(int(index.max()), 1) < output.shape[1] <= 63:
                said.update(zip(rows.tolist(), output.astype(np.float64), strict=False))
        known = np.array([each in said for each in wanted.tolist()])
        if known.mean() < _KNOWN or len({len(said[each]) for each in wanted[known].tolist()}) != 1:
            continue
        for table in _tables(np.stack([said[each] for each in wanted[known].tolist()])):
            if np.allclose(table[np.arange(len(table)), index[known]], logp[known], atol=1e-4):
                whole = np.zeros((len(wanted), table.shape[1]))
                whole[known] = table
                return whole, known
    return None


def _by_row(term: Event, event: Event, among: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Called once per step: which call was on which row of the loss. The newest, where there are several."""
    wanted, given = term.arrays.get("rows"), event.arrays.get("rows")
    if wanted is None or given is None or (wanted < 0).any() or len(np.unique(wanted)) != len(wanted):
        return None
    at = {int(given[place]): int(place) for place in among.tolist()}
    found = [at.get(int(each)) for each in wanted]
    return None if None in found else np.array(found, dtype=np.int64)


def _tables(numbers: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
    """Outputs may be logits, or probabilities already."""
    yield log_softmax(numbers)
    if (numbers > 0).all() and np.allclose(numbers.sum(axis=1), 1.0, atol=1e-4):
        yield np.log(numbers)


def log_softmax(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    top = rows - rows.max(axis=1, keepdims=True)
    found: NDArray[np.float64] = top - np.log(np.exp(top).sum(axis=1, keepdims=True))
    return found


def no_unlikely_choice(each: Choices) -> float | None:
    """Log of the chance that sampling would have taken the likeliest action, or one above the average, in all rows.

    None where it did not; 0 where nothing can be said.
    """
    if each.table is not None:
        top = each.table.max(axis=1)
        return float(top.sum()) if (each.logp >= top - 1e-6).all() else None
    if each.actions is None:
        return 0.0
    # Only the entropy is known. Near the largest one, every action has some probability; below the average is 1 − it.
    even = np.log(each.actions)
    less = np.log(each.actions - 1)
    near = each.entropy > 0.5 * (even + less) if each.actions > 2 else each.entropy > 0.5 * even
    if (each.logp < -even - 1e-6).any():
        return None
    return float(near.sum()) * float(np.log1p(-_least(each.actions)))


def _least(actions: int) -> float:
    """The smallest probability of an action, at half the way between the entropies of all actions and of one less."""
    goal = 0.5 * (np.log(actions) + np.log(actions - 1)) if actions > 2 else 0.5 * np.log(2)
    low, high = 1e-9, 1.0 / actions
    for _ in range(60):
        at = 0.5 * (low + high)
        entropy = -at * np.log(at) - (1 - at) * np.log((1 - at) / (actions - 1))
        low, high = (at, high) if entropy < goal else (low, at)
    return low
