"""V-trace: targets of steps that an older policy took, each weighed by how much likelier its action is now.

    T − V = ρ (r + γ V' − V) + γ λ c (T' − V')     ρ = min(ρ̄, π/μ), c = min(c̄, π/μ)

Values are those of the loss itself, π of its log-probs, μ of what a network said when the step was taken. Rows are told
by their order (lined_up), so that the next row of each is known. Each way of making the weights gives numbers; the one
that explains the rows where they differ is the way of the program.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np

from rldebug.evidence.script import UNKNOWN, Audit, Event, Script
from rldebug.forensics.acting_values import by_look, is_output, values_of
from rldebug.forensics.lined_up import lined_up
from rldebug.forensics.node_places import Array, Flags, Ints, Site, after, column_of, places_of, sited
from rldebug.forensics.robust_fit import Fitted, robust, tolerance
from rldebug.forensics.target_ends import Ending

_ROWS = 48
_TELLING = 12  # rows whose action is more or less likely now
_GOOD = 0.9
_HIT = 0.9
_ENDS = 4
_APART = 1e-3  # of a ratio from 1
_MISTAKES = {
    "below": "weights-clipped-from-below",
    "inverted": "ratio-inverted",
    "inverted-raw": "ratio-inverted",
}


@dataclass(frozen=True, eq=False)
class Rows:
    """Of all losses of one place in the program. Places refer to rows of this table."""

    target: Array
    value: Array
    value_after: Array  # of what was acted on next
    value_next: Array  # of where the step led
    reward: Array
    ratio: Array  # NaN where the policy that acted is not known
    push: Array  # what the log-prob is multiplied with
    after: Ints
    terminated: Flags
    truncated: Flags
    audit: Ints

    @property
    def next_target(self) -> Array:
        return np.where(self.after >= 0, self.target[self.after], np.nan)

    @property
    def inner(self) -> Flags:
        return np.asarray(~self.terminated & ~self.truncated & (self.after >= 0) & np.isfinite(self.reward))


@dataclass(frozen=True, eq=False)
class VTrace:
    site: Site
    terms: tuple[Event, ...]
    weights: str  # clipped, raw, below, inverted, none
    gamma: float
    lam: float
    mistake: str
    endings: tuple[Ending, ...]
    share: float
    rows: int
    audits: int
    pushes: str = ""  # "own": the log-probs are weighed by what leads to the target of the step itself


def vtraces(script: Script, without: Container[Site] = ()) -> list[VTrace]:
    """Of each regression that is off its policy, and whose formula is that of V-trace. `without`: those explained."""
    found: dict[Site, list[tuple[Audit, Event, Rows]]] = {}
    for audit in map(lined_up, script.audits):
        policies = [term for _, term in sited(audit, "policy")]
        for site, term in sited(audit, "regression"):
            made = None if site in without or "index" in term.arrays else _rows_of(audit, policies, term)
            if made is not None:
                found.setdefault(site, []).append((audit, term, made))
    fitted = []
    for site, several in found.items():
        trace = _fit(site, tuple(term for _, term, _ in several), _joined([each for _, _, each in several]))
        if trace is not None:
            fitted.append(trace)
    return fitted


def _rows_of(audit: Audit, policies: Sequence[Event], term: Event) -> Rows | None:
    target, value = column_of(term, "target"), column_of(term, "prediction")
    policy = next((each for each in policies if each.update == term.update and _about(each, term)), None)
    if target is None or value is None or policy is None or len(target) < 8 or not len(audit.nodes):
        return None
    nodes = audit.nodes
    places = places_of(nodes, term.arrays["rows"])
    safe = np.where(places >= 0, places, 0)
    known = (places >= 0) & nodes.acted[safe] & ~nodes.phantom[safe] & (nodes.alike[safe] == 0)
    if known.mean() < 0.5 or len(np.unique(places[known])) < known.sum():
        return None
    push = column_of(policy, "weight")
    logp, chosen = column_of(policy, "logp"), column_of(policy, "index")
    acted = _acted(audit, np.where(known, places, UNKNOWN), chosen)
    if logp is None or acted is None:
        return None
    own = dict(zip(safe[known].tolist(), value[known].tolist(), strict=True))
    values = by_look(audit, {**values_of(audit, term.update, [term], safe[known]), **own})
    onward, nxt = after(nodes)[safe], places_of(nodes, nodes.nxt[safe])
    at = {int(each): row for row, each in enumerate(places.tolist()) if known[row]}
    follow = np.array([at.get(int(each), UNKNOWN) for each in onward], dtype=np.int64)
    apart = (follow - np.arange(len(follow)))[follow >= 0]
    if not len(apart):
        return None
    # Two stretches of one actor may be in the same batch: the step after the last of one is the first of the other.
    follow = np.where(follow - np.arange(len(follow)) == Counter(apart.tolist()).most_common(1)[0][0], follow, UNKNOWN)
    return Rows(
        target=np.where(known, target, np.nan),
        value=value,
        value_after=values[np.where(onward >= 0, onward, len(nodes))],
        value_next=values[np.where(nxt >= 0, nxt, len(nodes))],
        reward=np.where(known, nodes.reward[safe], np.nan),
        ratio=np.exp(np.clip(logp - acted, -20.0, 20.0)),
        push=np.full(len(target), np.nan) if push is None or len(push) != len(target) else push,
        after=follow,
        terminated=nodes.terminated[safe] & known,
        truncated=nodes.truncated[safe] & ~nodes.terminated[safe] & known,
        audit=np.full(len(target), audit.number, dtype=np.int64),
    )


def _about(one: Event, other: Event) -> bool:
    rows, same_rows = one.arrays.get("rows"), other.arrays.get("rows")
    return rows is not None and same_rows is not None and np.array_equal(rows, same_rows)


def _acted(audit: Audit, places: Ints, chosen: Array | None) -> Array | None:
    """Log-prob of each row's action when it was taken, by what a network said of that observation then."""
    if chosen is None or not np.isfinite(chosen).all() or (chosen < 0).any():
        return None
    nodes = audit.nodes
    lanes = len({(stream, lane) for stream, lane in zip(nodes.stream.tolist(), nodes.lane.tolist(), strict=True)})
    said: dict[int, Array] = {}
    width = int(chosen.max()) + 1
    for event in audit.calls:
        ids = event.arrays.get("rows")
        if ids is None or not len(ids) or (event["grad"] and not event.get("acting")):
            continue
        if len(ids) > lanes * int(event.get("calls") or 1):
            continue  # more rows than there are environments: it is asked to learn from them
        updates = event.arrays.get("updates")
        updates = updates if updates is not None and len(updates) == len(ids) else np.full(len(ids), event.update)
        where = places_of(nodes, ids)
        for name, output in event.arrays.items():
            matrix = output.reshape(len(ids), -1) if is_output(name, output, len(ids)) else None
            if matrix is None or not width <= matrix.shape[1] <= 64 or matrix.shape[1] < 2 or event.get("inside"):
                continue
            logs = _log_probs(matrix.astype(np.float64))
            for place, update, row in zip(where.tolist(), updates.tolist(), logs, strict=True):
                if place >= 0 and nodes.update[place] == update:
                    said.setdefault(place, row)
            break
    found = np.full(len(places), np.nan)
    for row, place in enumerate(places.tolist()):
        if place in said:
            found[row] = said[place][int(chosen[row])]
    return found


def _log_probs(out: Array) -> Array:
    if out.min() >= 0.0 and np.allclose(out.sum(axis=1), 1.0, atol=1e-4):
        return np.asarray(np.log(np.maximum(out, 1e-12)))
    top = out - out.max(axis=1, keepdims=True)
    return np.asarray(top - np.log(np.exp(top).sum(axis=1, keepdims=True)))


def _joined(parts: Sequence[Rows]) -> Rows:
    starts = np.cumsum([0, *(len(each.target) for each in parts)])
    columns = {each.name: [getattr(part, each.name) for part in parts] for each in fields(Rows)}
    columns["after"] = [
        np.where(part.after >= 0, part.after + start, UNKNOWN)
        for part, start in zip(parts, starts.tolist(), strict=False)
    ]
    return Rows(**{name: np.concatenate(several) for name, several in columns.items()})


def _ways(ratio: Array) -> Iterator[tuple[str, Array, Array]]:
    """Weights of the error, and of what is carried. The right ones first."""
    clipped, back = np.minimum(ratio, 1.0), 1.0 / np.maximum(ratio, 1e-9)
    yield "clipped", clipped, clipped
    yield "raw", ratio, clipped
    yield "raw", ratio, ratio
    yield "none", np.ones_like(ratio), np.ones_like(ratio)
    yield "below", np.maximum(ratio, 1.0), np.maximum(ratio, 1.0)
    yield "below", np.maximum(ratio, 1.0), clipped
    yield "inverted", np.minimum(back, 1.0), np.minimum(back, 1.0)
    yield "inverted-raw", back, back


def _fit(site: Site, terms: tuple[Event, ...], rows: Rows) -> VTrace | None:
    usable = rows.inner & np.isfinite(rows.ratio) & np.isfinite(rows.value_after) & np.isfinite(rows.target)
    usable &= np.isfinite(rows.next_target)
    telling = usable & (np.abs(rows.ratio - 1.0) > _APART)
    if usable.sum() < _ROWS or telling.sum() < _TELLING:
        return None
    carried = rows.next_target - rows.value_after
    tol = tolerance(rows.target[usable], rows.reward[usable], rows.value[usable])
    best: tuple[int, str, Array, Array, Fitted] | None = None
    for name, weight, trace in _ways(rows.ratio):
        y = (rows.target - rows.value - weight * (rows.reward - rows.value))[usable]
        fit = robust(y, [(weight * rows.value_after)[usable], (trace * carried)[usable]], 3.0 * tol)
        if not fit or fit.share < _GOOD:
            continue
        hit = int(fit.agree[telling[usable]].sum())
        if best is None or hit > best[0] + max(8, 0.05 * telling.sum()):
            best = (hit, name, weight, trace, fit)
    if best is None or best[1] == "none" or best[0] < 0.8 * telling.sum():
        return None
    _, name, weight, trace, fit = best
    gamma, lam = float(fit.coef[0]), float(fit.coef[1] / fit.coef[0]) if fit.coef[0] else 0.0
    if not 0.3 < gamma < 1.02 or not -0.01 < lam < 1.02:
        return None
    audits = len(np.unique(rows.audit[usable][fit.agree]))
    ends = _endings(rows, weight, trace, gamma, gamma * lam, 6.0 * tol)
    mistake = _MISTAKES.get(name, "")
    pushes = _pushes(rows, usable, weight, gamma)
    return VTrace(site, terms, name, gamma, lam, mistake, ends, fit.share, fit.rows, audits, pushes)


def _pushes(rows: Rows, usable: Flags, weight: Array, gamma: float) -> str:
    """Whether the weights of the log-probs are made with the target of the step itself, and in no right way."""
    keep = usable & np.isfinite(rows.push)
    if keep.sum() < _ROWS or not np.any(rows.push[keep]):
        return ""
    own = weight * (rows.reward + gamma * rows.target - rows.value)
    right = [
        weight * (rows.reward + gamma * rows.next_target - rows.value),
        weight * (rows.reward + gamma * rows.value_after - rows.value),
        weight * (rows.target - rows.value),
        rows.target - rows.value,
    ]
    tol = tolerance(rows.push[keep], rows.push[keep], rows.push[keep])
    shares = [robust(rows.push[keep], [each[keep], np.ones(int(keep.sum()))], 3.0 * tol) for each in (own, *right)]
    found, *others = [each.share if each else 0.0 for each in shares]
    return "own" if found >= _GOOD and max(others) < 0.5 else ""


def _endings(rows: Rows, weight: Array, trace: Array, gamma: float, carry: float, tol: float) -> tuple[Ending, ...]:
    """How ends are treated: of episodes, by time limits, and of the stretch that is learned from."""
    own = rows.value + weight * (rows.reward - rows.value)
    carried = carry * trace * (rows.next_target - rows.value_after)
    ways = {
        "zero": own,
        "final": own + gamma * weight * rows.value_next,
        "value": own + gamma * weight * rows.value_after,
        "follows": own + gamma * weight * rows.value_after + carried,
        "leak": own + carried,
        "own": own + gamma * weight * rows.value,
        "carried": own + gamma * weight * rows.value_next + carried,
    }
    done = rows.terminated | rows.truncated
    kinds: tuple[tuple[str, Flags, str, tuple[str, ...]], ...] = (
        ("terminated", rows.terminated, "zero", ("follows", "leak", "value")),
        ("truncated", rows.truncated, "final", ("zero", "follows", "value", "carried")),
        ("rollout", ~done & (rows.after < 0) & np.isfinite(rows.reward), "final", ("zero", "own")),
    )
    found = []
    for kind, keep, right, wrong in kinds:
        keep = keep & np.isfinite(rows.ratio) & np.isfinite(rows.target)
        if keep.sum() < _ENDS:
            continue
        ending = _ending(kind, keep, right, wrong, ways, rows, tol)
        if ending is not None:
            found.append(ending)
    return tuple(found)


def _ending(
    kind: str, keep: Flags, right: str, wrong: tuple[str, ...], ways: Mapping[str, Array], rows: Rows, tol: float
) -> Ending | None:
    share = float(keep.mean())
    best: Ending | None = None
    for way in (right, *wrong):
        told = keep & np.isfinite(ways[way])
        if way != right:
            apart = np.abs(ways[way] - ways[right]) > 8.0 * tol
            if way == "zero" and not np.isfinite(ways[right][keep]).any():
                # Nobody was asked for the value of where it led: it is no smaller than that of where it came from.
                apart = np.abs(rows.value) > 64.0 * tol
            told &= apart  # NaN where the right one is not known: no
        hit = told & (np.abs(rows.target - ways[way]) <= tol)
        if told.sum() < _ENDS or hit.sum() < _HIT * told.sum():
            continue
        if way == right:
            return Ending(kind, way, True, int(told.sum()), int(hit.sum()), len(np.unique(rows.audit[hit])), share)
        if best is None or hit.sum() > best.hit:
            audits = len(np.unique(rows.audit[hit]))
            way = "leak" if way == "carried" else way  # over a time limit, beside the value of where it led
            best = Ending(kind, way, False, int(told.sum()), int(hit.sum()), audits, share)
    return best


__all__ = ["VTrace", "vtraces"]
