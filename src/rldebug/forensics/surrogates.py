"""Surrogates: the terms of policy losses, which of them came before the policy moved, and what they add up to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Audit, Event, Script
from rldebug.forensics.batches import ambiguous
from rldebug.forensics.roles import roles_of


@dataclass(frozen=True, eq=False)
class Surrogate:
    """One weighted log-prob, or ratio, of a loss."""

    audit: Audit
    loss: Event
    term: Event
    beside: tuple[Event, ...]  # the other terms of the loss
    fresh: bool  # nothing that it trains was stepped between the acting and this loss, as far as can be seen

    @property
    def advantage(self) -> NDArray[np.float64] | None:
        """What is ascended: minus the coefficient times the weight. None where there is no weight per row."""
        weight = self.term.arrays.get("weight")
        if weight is None:
            return None
        sign = -float(np.sign(self.term["coefficient"]))
        found: NDArray[np.float64] = sign * np.ravel(weight).astype(np.float64)
        return found

    @property
    def ratio(self) -> NDArray[np.float64] | None:
        ratio = self.term.arrays.get("ratio")
        return None if ratio is None else np.ravel(ratio).astype(np.float64)

    @property
    def counted(self) -> NDArray[np.bool_] | None:
        """Rows that the loss does not leave out; None where it leaves out none."""
        mask = self.term.arrays.get("mask")
        return None if mask is None else np.ravel(mask) != 0


@lru_cache(maxsize=8)
def surrogates(script: Script) -> tuple[Surrogate, ...]:
    return tuple(_surrogates(script))


def _surrogates(script: Script) -> Iterator[Surrogate]:
    for audit in script.audits:
        drawn = _drawn(audit)
        for loss, terms in audit.losses:
            for term in terms:
                if term["kind"] == "policy" and not term.get("cut"):
                    beside = tuple(each for each in terms if each is not term)
                    yield Surrogate(audit, loss, term, beside, _fresh(script, audit, term, drawn))


def _drawn(audit: Audit) -> frozenset[int]:
    """Before how many steps actions were drawn in this audit."""
    found: set[int] = set()
    for event in audit.of("sample"):
        updates = event.arrays.get("updates")
        found |= {event.update} if updates is None else set(np.unique(updates).tolist())
    return frozenset(found)


def _fresh(script: Script, audit: Audit, term: Event, drawn: frozenset[int]) -> bool:
    rows = term.arrays.get("rows")
    places = audit.nodes.index(rows) if rows is not None else np.empty(0, dtype=np.int64)
    known = places >= 0
    if len(places) and known.mean() > 0.9:
        # A row that looks like another one may have been found at the wrong time.
        sure = places[known & ~ambiguous(audit.nodes, places)]
        if len(sure) < 0.5 * len(places):
            # Boards and grids: most are seen again and again. This stretch began with acting, and had no step yet.
            return term.update == audit.update and roles_of(script).on_policy is True
        oldest = int(audit.nodes.update[sure].min())
        return oldest >= audit.update and not _stepped(script, audit, term, oldest)
    # Without an environment, or with inputs that nobody acted on: the actions were drawn just before, and this is the
    # first loss after that. The few rows that are known must be of that time too: else it was an evaluation that drew.
    before = [each for each in drawn if each <= term.update]
    if not before or (known.any() and int(audit.nodes.update[places[known]].min()) < max(before)):
        return False
    return not _stepped(script, audit, term, max(before))


def _stepped(script: Script, audit: Audit, term: Event, since: int) -> bool:
    """Whether an optimizer stepped, of those that own what the term trains, or of all where that is unknown."""
    if term.update == since:
        return False
    reached = set(term.get("reached") or ())
    own = {
        name
        for name, thing in script.optimizers.items()
        if not reached or not thing.get("modules") or reached & _with_parts(script, thing["modules"])
    }
    steps = [each for each in audit.of("step") if since <= each.update < term.update]
    return len(steps) != term.update - since or any(each["optimizer"] in own for each in steps)


def _with_parts(script: Script, modules: dict[str, int]) -> set[str]:
    inside = {name for name, thing in script.modules.items() if thing.get("inside") in modules}
    around = {str(script.modules[name].get("inside")) for name in modules if name in script.modules}
    return set(modules) | inside | around


# ── what a loss adds up to ──────────────────────────────────────────────────────────────────────────────────────────


def value_left(loss: Event, term: Event, others: Iterable[Event]) -> float | None:
    """What a term itself adds to the loss: its value less the others. None where one of them cannot be computed."""
    value = loss.get("value")
    parts = [_value(each) for each in others]
    if value is None or not np.isfinite(value) or None in parts:
        return None
    return float(value) - float(sum(each for each in parts if each is not None))


def value_of_surrogate(surrogate: Surrogate) -> float | None:
    return value_left(surrogate.loss, surrogate.term, surrogate.beside)


def _value(term: Event) -> float | None:
    """What a term adds to the loss, by its numbers."""
    arrays, kind = term.arrays, term["kind"]
    if term.get("cut"):
        return None
    rows: NDArray[np.float64]
    if kind == "policy":
        return _value_of_policy(term)
    if term.get("nested"):
        return None
    if kind == "entropy" and "entropy" in arrays:
        rows = np.ravel(arrays["entropy"]).astype(np.float64)
    elif kind == "regression" and term["op"] in ("mse", "square", "smooth-l1", "huber", "l1"):
        difference = arrays.get("difference")
        if difference is None:
            if not {"prediction", "target"} <= arrays.keys():
                return None
            difference = np.ravel(arrays["prediction"]).astype(np.float64) - np.ravel(arrays["target"])
        rows = _of_difference(np.abs(np.ravel(difference).astype(np.float64)), str(term["op"]))
    else:
        return None
    for name in ("weight", "mask"):
        if name in arrays:
            if arrays[name].size != rows.size:
                return None
            rows = rows * np.ravel(arrays[name])
    return float(term["scale"]) * float(rows.sum()) if rows.size == int(term["rows"]) else None


def _of_difference(size: NDArray[np.float64], op: str) -> NDArray[np.float64]:
    if op in ("mse", "square"):
        return size**2
    # With the bend at 1, where it is unless it was set.
    return size if op == "l1" else np.where(size < 1.0, 0.5 * size**2, size - 0.5)


def _value_of_policy(term: Event) -> float | None:
    """As it should be: the smaller gain of the clipped and the unclipped side, where there are two."""
    arrays, clip = term.arrays, term.get("clip")
    of, weight = arrays.get("ratio", arrays.get("logp")), arrays.get("weight")
    if of is None or weight is None or "mask" in arrays or not of.size == weight.size == int(term["rows"]):
        return None
    rows = np.ravel(of).astype(np.float64)
    gain = -np.sign(term["scale"]) * np.ravel(weight).astype(np.float64)
    if not term.get("nested"):
        return None if clip else -abs(float(term["scale"])) * float((rows * gain).sum())
    if not clip or None in clip or term["nested"] not in ("min", "max") or term.get("inverted"):
        return None
    return -abs(float(term["scale"])) * float(np.minimum(rows * gain, np.clip(rows, *clip) * gain).sum())


# ── how far actions are from their mean ─────────────────────────────────────────────────────────────────────────────


def distances(surrogate: Surrogate) -> NDArray[np.float64] | None:
    """Of numbers from the mean of their Gaussian, in deviations, in the first loss after acting; a row each."""
    arrays = surrogate.term.arrays
    if (
        not surrogate.fresh
        or surrogate.term.get("family") != "normal"
        or not {"action", "mean", "std"} <= arrays.keys()
    ):
        return None
    action, mean, std = (np.asarray(arrays[name], dtype=np.float64) for name in ("action", "mean", "std"))
    if not action.shape == mean.shape == std.shape or action.ndim not in (1, 2) or len(action) < 8:
        return None
    if not (std > 0).all():
        return None
    found: NDArray[np.float64] = ((action - mean) / std).reshape(len(action), -1)
    return found if np.isfinite(found).all() else None


def held(surrogate: Surrogate, distance: NDArray[np.float64]) -> bool:
    """Whether the noise of a step is like that of the step before, and not drawn anew; or that cannot be told."""
    rows = surrogate.term.arrays.get("rows")
    if rows is None or len(rows) != len(distance):
        return True
    nodes = surrogate.audit.nodes
    places = nodes.index(rows)
    at = {int(place): row for row, place in enumerate(places) if place >= 0}
    pairs = [
        (row, at[int(following)])
        for place, row in at.items()
        for following in nodes.index(nodes.nxt[place : place + 1])
        if int(following) in at
    ]
    if len(pairs) < 10:
        return True
    one, other = (distance[[pair[side] for pair in pairs]] for side in (0, 1))
    size = float(np.sqrt((one**2).mean() * (other**2).mean()))
    return abs(float((one * other).mean())) > 0.4 * size
