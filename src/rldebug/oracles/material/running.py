"""Mean and variance merged batch by batch, with every known mistake as a switch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rldebug.oracles.material.normalisers import bounded
from rldebug.oracles.oracle import Array, Case, Values


def reference(case: Case) -> Values:
    """Over all rows at once, in two passes."""
    seen = [row for batch in case["batches"] for row in batch]
    if case.given.get("function"):
        return {**moments(seen), **_given_state(case)}
    state = moments(seen)
    mean, var = state["mean"], state["var"]
    normalised: Any = [(row - mean) / np.sqrt(var + 1e-12) for row in case["queries"]]
    if case.given.get("fed"):
        normalised = _fed(seen, case)
    normalised = bounded(np.array(normalised))
    return {"mean": mean, "var": var, "m2": state["m2"], "normalised": normalised, "mean_afterwards": mean}


def _fed(seen: list[Array], case: Case) -> list[Array]:
    groups = [[row] for row in case["queries"]] if case.given.get("rows") else [list(case["queries"])]
    made = []
    for group in groups:
        now = moments([*seen, *group])
        made += [(row - now["mean"]) / np.sqrt(now["var"] + 1e-12) for row in group]
    return made


def moments(rows: Sequence[Array]) -> dict[str, Array]:
    mean = sum(rows, np.zeros(len(rows[0]))) / len(rows)
    squares = sum(((row - mean) ** 2 for row in rows), np.zeros(len(mean)))
    return {"mean": mean, "var": squares / len(rows), "m2": squares, "count": np.asarray(float(len(rows)))}


def _given_state(case: Case) -> dict[str, Array]:
    now = before_last(case)
    scaled = (case["batches"][-1] - now["mean"]) / np.sqrt(now["var"] + 1e-12)
    return {"scaled": scaled, "scaled_row": scaled[-1]}


def before_last(case: Case) -> dict[str, Array]:
    """The state that a function is handed: after all batches but the last."""
    return moments([row for batch in case["batches"][:-1] for row in batch])


class _State:
    """Mean, variance and count, merged batch by batch."""

    def __init__(self, knobs: dict[str, Any], width: int) -> None:
        self.knobs = knobs
        self.count = knobs["prior"]
        self.mean, self.m2 = np.zeros(width), np.full(width, knobs["prior_var"] * self.count)

    def merge(self, batch: Array) -> None:
        knobs, size = self.knobs, float(len(batch))
        spread = batch if knobs["axis"] == "rows" else batch.reshape(-1)
        batch_mean, batch_var = spread.mean(axis=0), spread.var(axis=0)
        if knobs["batch_ddof"]:
            batch_var = batch_var * len(spread) / (len(spread) - 1) if len(spread) > 1 else batch_var * np.nan
        total, delta = self.count + size, batch_mean - self.mean
        cross = {
            "usual": delta**2 * self.count * size / total,
            "missing": 0.0,
            "batch missing": delta**2 * self.count / total,
            "count missing": delta**2 * size / total,
            "not squared": delta * self.count * size / total,
            "old twice": delta**2 * size,
            "too late": (delta * self.count / total) ** 2 * self.count * size / total,
            "new twice": delta**2 * size * (self.count / total) ** 2,
        }[knobs["cross"]]
        var = self.m2 / self.count if self.count else np.zeros_like(self.mean)
        self.m2 = self.m2 + batch_var * size + cross
        if knobs["average"] == "of averages":
            seen = self.count > knobs["prior"]
            self.m2 = ((var + batch_var) / 2.0 if seen else batch_var) * total
            self.mean = (self.mean + batch_mean) / 2.0 if seen else batch_mean + self.mean * 0.0
        else:
            self.mean = self.mean + delta * {"size": size, "one": 1.0, "count": self.count}[knobs["average"]] / total
        if knobs["memory"] == "last":
            self.mean, self.m2, total = batch_mean + self.mean * 0.0, batch_var * size + self.m2 * 0.0, size
        if knobs["memory"] == "count kept":
            self.m2, total = self.m2 / total * self.count, self.count
        if knobs["memory"] == "batches counted":
            self.m2, total = self.m2 / total * (self.count + 1.0), self.count + 1.0
        self.count = total

    def var(self) -> Array:
        lost = self.knobs["ddof"] if self.count > 1 else 0
        made = {
            "usual": self.m2 / (self.count - lost) if self.count else self.m2,
            "not divided": self.m2,
            "second moment": self.m2 / self.count + self.mean**2 if self.count else self.m2,
        }[self.knobs["spread"]]
        return np.asarray(made)

    def scaled(self, rows: Array) -> Array:
        knobs, var = self.knobs, self.var()
        with np.errstate(all="ignore"):
            std = np.sqrt(var + knobs["inside"]) + knobs["outside"]
            below = std if knobs["root"] else var + knobs["inside"] + knobs["outside"]
            if knobs["epsilon"]:
                below = np.maximum(below, 1e-12)
            rows = np.clip(rows, -knobs["clip_first"], knobs["clip_first"]) if knobs["clip_first"] else rows
            made = {
                "usual": (rows - self.mean) / below,
                "not centred": rows / below,
                "precedence": rows - self.mean / below,
                "times": (rows - self.mean) * below,
                "added": (rows + self.mean) / below,
            }[knobs["formula"]]
        return np.asarray(made)


_DEFAULTS: dict[str, Any] = {
    "prior": 0.0, "prior_var": 1.0, "ddof": 0, "batch_ddof": 0, "inside": 1e-12, "outside": 0.0, "axis": "rows",
    "cross": "usual", "average": "size", "memory": "all", "spread": "usual", "root": True, "formula": "usual",
    "epsilon": True,
    "clip_first": 0.0, "updates_when_asked": False, "seen_var": "var", "old": False,
}  # fmt: skip


def variant(case: Case, **given: Any) -> Values:
    knobs = {**_DEFAULTS, **given}
    if not knobs["epsilon"]:
        knobs |= {"inside": 0.0, "outside": 0.0}
    width = len(case["queries"][0])
    if case.given.get("function"):
        return _one_update(case, knobs)
    state = _State(knobs, width)
    for batch in case["batches"]:
        for part in batch[:, None] if case.given.get("rows") else [batch]:
            state.merge(part)
    mean, var, squares = state.mean.copy(), state.var(), state.m2.copy()
    afterwards = mean
    queries = case["queries"]
    if (case.given.get("fed") and not knobs["old"]) or knobs["updates_when_asked"]:
        normalised = _scaled_when_fed(state, queries, rows=bool(case.given.get("rows")))
    else:
        normalised = state.scaled(queries)
    if knobs["updates_when_asked"]:
        state.merge(queries)
        afterwards = state.mean
    seen = var**2 if knobs["seen_var"] == "squared" else np.sqrt(var) if knobs["seen_var"] == "std" else var
    return {"mean": mean, "var": seen, "m2": squares, "normalised": bounded(normalised), "mean_afterwards": afterwards}


def _scaled_when_fed(state: _State, queries: Array, *, rows: bool) -> Array:
    made = []
    for group in queries[:, None] if rows else [queries]:
        fed = _State(state.knobs, queries.shape[1])
        fed.count, fed.mean, fed.m2 = state.count, state.mean.copy(), state.m2.copy()
        fed.merge(group)
        made.append(fed.scaled(group))
    return np.concatenate(made)


def _one_update(case: Case, knobs: dict[str, Any]) -> Values:
    before, batch = before_last(case), case["batches"][-1]
    state = _State({**knobs, "prior": float(before["count"])}, batch.shape[1])
    state.mean, state.m2 = before["mean"].copy(), before["m2"].copy()
    scaled = state.scaled(batch)
    state.knobs = {**knobs, "prior": 0.0}
    state.merge(batch)
    count = np.asarray(float(state.count))
    seen = {
        "mean": state.mean,
        "var": state.var(),
        "m2": state.m2,
        "count": count,
        "scaled": scaled,
        "scaled_row": scaled[-1],
    }
    return {
        **seen,
        "normalised": np.full_like(case["queries"], np.inf),
        "mean_afterwards": np.full_like(state.mean, np.inf),
    }
