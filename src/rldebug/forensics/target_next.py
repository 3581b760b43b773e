"""What could be bootstrapped from: what networks said of the next observations of a loss, just before it.

Such a call is found by its rows: the steps of the rows of the loss lead there, one by one. Programs that ask only about
steps that did not end give fewer rows, in the same order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rldebug.evidence.script import UNKNOWN, Audit, Event, Nodes
from rldebug.forensics.drawn import by_hand
from rldebug.forensics.rescaled_rewards import used_rewards
from rldebug.forensics.robust_fit import Array
from rldebug.forensics.sequence_windows import windows
from rldebug.forensics.target_quantiles import means_of
from rldebug.forensics.target_rows import Flags, Ints, column_of, is_output, places_of, same
from rldebug.forensics.target_twins import World, shares, told

_GOOD = 0.9
_TWINS = 0.5  # share of rows whose observation comes back: they are known by the whole transition


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows of one loss. f: what could have been bootstrapped from, by name; NaN where the program did not ask."""

    target: Array
    reward: Array
    terminated: Flags
    truncated: Flags
    known: Flags  # the row is one certain step of the environment
    f: dict[str, Array]
    entries: dict[str, Array]  # all that a network said of the next rows, a column for each action
    audit: int
    reset: Flags  # the next row is the reset observation, where the episode had ended
    near: dict[str, Array] = field(default_factory=dict)  # rewards of the steps before and after
    perhaps: Flags | None = None  # a time limit struck some of the steps that the row may be


@dataclass(frozen=True, eq=False)
class Said:
    """What a network said of rows in one call."""

    module: str
    name: str
    rows: Ints
    output: Array
    order: int
    shape: tuple[int, ...] = ()

    def parts(self, count: int) -> Iterator[Said]:
        """Of sequences, the same steps of each: as many rows as that."""
        for places in windows(self.shape, len(self.rows), count):
            yield replace(self, rows=self.rows[places], output=self.output[places], shape=())


def batch_of(audit: Audit, term: Event, world: World | None = None) -> Batch | None:
    numbers = column_of(term, "target")
    if numbers is None or len(numbers) < 4 or not len(audit.nodes):
        return None
    nodes = audit.nodes
    ids, numbers, index = once(term.arrays["rows"], numbers, term.arrays.get("index"))
    places = places_of(nodes, ids)
    safe = np.where(places >= 0, places, 0)
    twins = (places >= 0) & (nodes.alike[safe] != 0)
    if world is not None and len(world.id) and twins.sum() > _TWINS * max(int((places >= 0).sum()), 1):
        return _of_twins(audit, term, world, ids, numbers, index)
    known = (places >= 0) & nodes.acted[safe] & ~nodes.phantom[safe] & ~twins & np.isfinite(numbers)
    if known.sum() < 4:
        return None
    terminated = nodes.terminated[safe] & known
    truncated = nodes.truncated[safe] & known & ~terminated
    f: dict[str, Array] = {}
    said = list(said_before(audit, term))
    reset = np.zeros(len(ids), dtype=bool)
    following = [each for one in said for each in [_fitting(nodes, ids, known, one, own=False)] if each is not None]
    own = [each for one in said for each in [_fitting(nodes, ids, known, one, own=True)] if each is not None]
    discrete = index is not None
    f.update(bootstraps(following, discrete, ""))
    f.update(bootstraps(own, discrete, "own-"))
    for each in following:
        reset |= _resets(nodes, places, each.rows) & known
    if discrete:
        f.update(elsewhere(following, own))
    for number, logp in enumerate(_logps(audit, term, len(ids))):
        f[f"logp-{number}"] = logp
    entries = {each.module: each.output for each in following if discrete and 1 < each.output.shape[1] <= 32}
    near = {} if world is None or not len(world.id) else world.near(ids)
    reward = used_rewards(audit, term, nodes.reward[safe], known)
    return Batch(numbers, reward, terminated, truncated, known, f, entries, audit.number, reset, near)


def _of_twins(audit: Audit, term: Event, world: World, ids: Ints, numbers: Array, index: Any) -> Batch | None:
    """Where observations come back: of which step a row is, is known by where it leads."""
    taken = np.ravel(index).astype(np.float64) if index is not None and np.size(index) == len(ids) else None
    looks = world.looks(ids)
    first = told(world, ids, taken, None)
    following: list[Said] = []
    own: list[Said] = []
    for one in said_before(audit, term):
        wide = one if len(one.rows) == len(ids) else _widened(world, ids, taken, one, first.known & first.terminated)
        if wide is None:
            continue
        seen = world.looks(wide.rows)
        share, judged = shares(world, ids, taken, seen, 1)
        both = (seen >= 0) & (looks >= 0)
        if share >= _GOOD and judged >= 4:
            following.append(wide)
        elif both.sum() >= 4 and (seen[both] == looks[both]).mean() >= _GOOD:
            own.append(wide)
    if not following and not own:
        return None
    steps = told(world, ids, taken, world.looks(following[-1].rows)) if following else first
    discrete = index is not None
    f = {**bootstraps(following, discrete, ""), **bootstraps(own, discrete, "own-")}
    f.update(elsewhere(following, own) if discrete else {})
    entries = {each.module: each.output for each in following if discrete and 1 < each.output.shape[1] <= 32}
    known = steps.known & np.isfinite(numbers)
    none = np.zeros(len(ids), dtype=bool)
    terminated, truncated = steps.terminated & known, steps.truncated & known
    reward = steps.rewards[:, 0]
    if known.sum() < 4:
        return None
    return Batch(numbers, reward, terminated, truncated, known, f, entries, audit.number, none, {}, steps.perhaps)


def _widened(world: World, ids: Ints, taken: Any, said: Said, ended: Flags) -> Said | None:
    """A call on the rows that did not end, with NaN in the others."""
    kept = ~ended
    if len(said.rows) != int(kept.sum()) or len(said.rows) < 4:
        return None
    rows = np.full(len(ids), UNKNOWN, dtype=np.int64)
    rows[kept] = said.rows
    wide = np.full((len(ids), said.output.shape[1]), np.nan)
    wide[kept] = said.output
    return replace(said, rows=rows, output=wide)


def once(ids: Ints, numbers: Array, index: Any) -> tuple[Ints, Array, Any]:
    """Two critics in one output: each row comes twice, at once or half a batch later, with the same target."""
    half = len(ids) // 2
    if len(ids) >= 8 and len(ids) == 2 * half:
        for one, two in ((slice(None, half), slice(half, None)), (slice(None, None, 2), slice(1, None, 2))):
            if (
                (ids[one] == ids[two]).all()
                and np.allclose(numbers[one], numbers[two], 1e-4, 1e-5)
                and len(set(ids[one])) > 2
            ):
                return ids[one], numbers[one], None if index is None or np.size(index) != len(ids) else index[one]
    return ids, numbers, index


def said_before(audit: Audit, term: Event) -> Iterator[Said]:
    for event in audit.calls:
        ids = event.arrays.get("rows")
        if ids is None or event.order > term.order:
            continue
        orders = event.arrays.get("orders")
        if orders is None or len(orders) != len(ids):
            orders = np.full(len(ids), event.order)
        updates = event.arrays.get("updates")
        if updates is None or len(updates) != len(ids):
            updates = np.full(len(ids), event.update)
        for order in np.unique(orders[(orders < term.order) & (updates == term.update)])[-4:]:
            block = orders == order
            count = int(block.sum())
            for name, output in event.arrays.items():
                if is_output(name, output, len(ids)):
                    matrix = output[block].reshape(count, -1).astype(np.float64)
                    if _by_critic(event, name, count):  # (critics, rows): recorded as if rows came first
                        matrix = matrix.reshape(-1, count).T
                    if term.get("atoms") is not None:
                        matrix = _means(matrix, *term["atoms"])
                    rows = ids[block]
                    if term.get("quantiles") is not None and count == term["quantiles"][0]:
                        matrix = means_of(matrix, _shape_of(event, name), term["quantiles"][1])
                        rows, matrix = rows[: len(term.arrays["rows"])], matrix[: len(term.arrays["rows"])]
                    yield Said(str(event["module"]), name, rows, matrix, int(order), tuple(_shape_of(event, name)))


def _means(matrix: Array, atoms: int, step: float, first: float) -> Array:
    """Of distributions over returns, one for each action, their means; as they are where that is what they are not."""
    chance = chances(matrix, atoms)
    return matrix if chance is None else np.asarray(first + step * (chance @ np.arange(atoms)))


def chances(matrix: Array, atoms: int) -> Array | None:
    """(rows, actions, atoms): of what a network said of several actions, the distributions."""
    if matrix.shape[1] <= atoms or matrix.shape[1] % atoms:
        return None
    parts = matrix.reshape(len(matrix), -1, atoms)
    if parts.min() >= 0.0 and np.abs(parts.sum(axis=2) - 1.0).max() < 1e-3:
        return parts
    chance = np.exp(parts - parts.max(axis=2, keepdims=True))  # logarithms, or what a softmax is taken of
    return np.asarray(chance / chance.sum(axis=2, keepdims=True))


def _shape_of(event: Event, name: str) -> list[int]:
    outputs = event.get("outputs") or []
    number = int(name.removeprefix("output") or 0)
    return list(outputs[number].get("shape", [])) if number < len(outputs) else []


def _by_critic(event: Event, name: str, count: int) -> bool:
    shape = [each for each in _shape_of(event, name) if each != 1]
    return len(shape) == 2 and shape[1] == count and shape[0] < count


def _fitting(nodes: Nodes, ids: Ints, known: Flags, said: Said, own: bool) -> Said | None:
    """With a row for each row of the loss, where it was asked about the next observations, or about the same ones."""
    equal = np.append(same(nodes), UNKNOWN)
    places = places_of(nodes, ids)
    safe = np.where(places >= 0, places, 0)
    want = equal[np.where(known, places if own else places_of(nodes, nodes.nxt[safe]), UNKNOWN)]
    seen = equal[places_of(nodes, said.rows)]
    done = (nodes.terminated[safe] | nodes.truncated[safe]) & known
    count = len(said.rows)
    if count == len(ids):
        sure = known & ~done & (want >= 0)
        if sure.sum() < 4 or (seen[sure] == want[sure]).mean() < _GOOD:
            return None
        return said
    for kept in (~(nodes.terminated[safe] & known), ~done):
        if not own and count == int(kept.sum()) and count >= 4 and (seen == want[kept]).mean() >= _GOOD:
            rows = np.full(len(ids), UNKNOWN, dtype=np.int64)
            rows[kept] = said.rows
            wide = np.full((len(ids), said.output.shape[1]), np.nan)
            wide[kept] = said.output
            return Said(said.module, said.name, rows, wide, said.order)
    if count > len(ids) and said.shape:
        several = (_fitting(nodes, ids, known, each, own) for each in said.parts(len(ids)))
        return next((each for each in several if each is not None), None)
    return None


def _resets(nodes: Nodes, places: Ints, rows: Ints) -> Flags:
    """Rows of ended steps where the network was asked about the observation of the reset."""
    safe = np.where(places >= 0, places, 0)
    done = nodes.terminated[safe] | nodes.truncated[safe]
    led = places_of(nodes, nodes.nxt[safe])
    onward = np.where(nodes.succ[safe] != nodes.nxt[safe], nodes.succ[safe], np.append(nodes.succ, UNKNOWN)[led])
    return np.asarray(done & (rows >= 0) & (rows == onward) & (rows != nodes.nxt[safe]))


def bootstraps(said: Sequence[Said], discrete: bool, prefix: str) -> dict[str, Array]:
    """Numbers that a target may be made of, the usual ones first. Of equal calls the last."""
    last = {(each.module, each.name): each for each in said}
    several = {module for module, count in Counter(module for module, _ in last).items() if count > 1}
    # A network that gives several answers, two critics in one, is as many as it gives.
    last = {key: replace(one, module=f"{one.module}.{one.name}") if one.module in several else one
            for key, one in last.items()}  # fmt: skip
    wide = [each for each in last.values() if each.output.shape[1] > 1]
    thin = [each for each in last.values() if each.output.shape[1] == 1]
    if not discrete:
        for one in wide:
            if one.output.shape[1] <= 8:
                columns = enumerate(one.output.T)
                thin += [
                    Said(f"{one.module}[{at}]", one.name, one.rows, each[:, None], one.order) for at, each in columns
                ]
        # Those asked last: the actor is asked before the critics. Of the state itself the network that learns is, too.
        orders = sorted({each.order for each in thin})
        asked, before = orders[-2:], orders[-3:-2] if prefix else []
        single = [each.order for each in last.values() if each.output.shape[1] == 1]
        asked += [each for each in before if each in single]
        thin = [each for each in thin if each.order in asked][-6:]
    f: dict[str, Array] = {}
    if discrete:
        for each in wide:
            f[f"{prefix}max of {each.module}"] = each.output.max(axis=1)
        for each in wide:
            for other in wide:
                if other is not each and other.output.shape == each.output.shape:
                    best = np.argmax(np.nan_to_num(other.output, nan=0.0), axis=1)
                    f[f"{prefix}double {each.module} by {other.module}"] = each.output[np.arange(len(best)), best]
        if not prefix:
            for each in wide:
                top = each.output.max(axis=1)
                f[f"soft {each.module}"] = top + np.log(np.exp(each.output - top[:, None]).sum(axis=1))
                f[f"mean of the actions of {each.module}"] = each.output.mean(axis=1)
                f[f"least of {each.module}"] = each.output.min(axis=1)
                f[f"index of the best of {each.module}"] = each.output.argmax(axis=1).astype(np.float64)
            for place, each in enumerate(wide):
                for other in wide[place + 1 :]:
                    if other.output.shape == each.output.shape:
                        f[f"min {each.module} {other.module}"] = np.minimum(each.output, other.output).max(axis=1)
            f.update(_expected(wide[-4:]))
        # A value of the state alone, beside those of the actions (implicit Q-learning).
        for each in thin[-2:]:
            f[f"{prefix}value of {each.module}"] = each.output[:, 0]
        return f
    for place, each in enumerate(thin[:6]):
        for other in thin[place + 1 : 6]:
            f[f"{prefix}min {each.module} {other.module}"] = np.minimum(each.output, other.output)[:, 0]
    for each in thin[:6]:
        f[f"{prefix}value of {each.module}"] = each.output[:, 0]
    if not prefix:
        for place, each in enumerate(thin[:6]):
            for other in thin[place + 1 : 6]:
                f[f"larger {each.module} {other.module}"] = np.maximum(each.output, other.output)[:, 0]
                f[f"average {each.module} {other.module}"] = (each.output + other.output)[:, 0] / 2.0
    return f


def elsewhere(following: Sequence[Said], own: Sequence[Said]) -> dict[str, Array]:
    """Values of the next observations, of the action that is thought best in the observation before each."""
    f: dict[str, Array] = {}
    for one in following:
        for other in own:
            if one.output.shape == other.output.shape and one.output.shape[1] > 1:
                best = np.argmax(np.nan_to_num(other.output, nan=0.0), axis=1)
                f[f"elsewhere {one.module} by {other.module}"] = one.output[np.arange(len(best)), best]
    return f


def _expected(wide: Sequence[Said]) -> dict[str, Array]:
    """Values averaged over a policy that one of the networks gives, and the negative entropy of that policy."""
    f: dict[str, Array] = {}
    for actor in wide:
        critics = [each for each in wide if each is not actor and each.output.shape == actor.output.shape]
        if not critics:
            continue
        out = actor.output
        proper = out.min() >= 0.0 and np.allclose(out.sum(axis=1), 1.0, atol=1e-4)
        top = np.exp(out - out.max(axis=1, keepdims=True))
        policy = out if proper else top / top.sum(axis=1, keepdims=True)
        logs = np.log(np.maximum(policy, 1e-12))
        f[f"logp of {actor.module}"] = (policy * logs).sum(axis=1)
        f[f"logp summed of {actor.module}"] = logs.sum(axis=1)
        for place, one in enumerate(critics):
            for two in critics[place + 1 :]:
                f[f"summed {one.module} {two.module} beside {actor.module}"] = np.minimum(one.output, two.output).sum(1)
                f[f"min {one.module} {two.module} over {actor.module}"] = (
                    policy * np.minimum(one.output, two.output)
                ).sum(axis=1)
                f[f"larger {one.module} {two.module} over {actor.module}"] = (
                    policy * np.maximum(one.output, two.output)
                ).sum(axis=1)
        for one in critics:
            f[f"mean of {one.module} over {actor.module}"] = (policy * one.output).sum(axis=1)
    return f


def _logps(audit: Audit, term: Event, count: int) -> Iterator[Array]:
    """Log-probs without a graph, of as many rows: those of the next actions. Also as they are after a tanh."""
    asked = list(_asked(audit, term, count))
    yield from asked
    for drawn in by_hand(audit, term, count) if not asked else ():
        for logp in (drawn.logp, *(drawn.corrected() if drawn.squashed else ())):
            yield logp.sum(axis=1)


def _asked(audit: Audit, term: Event, count: int) -> Iterator[Array]:
    for event in audit.of("logp"):
        result = event.arrays.get("result")
        if result is None or event.get("attached"):
            continue
        orders = event.arrays.get("orders")
        updates = event.arrays.get("updates")
        rows = len(result)
        if orders is None or updates is None or len(orders) != rows:
            orders, updates = np.full(rows, event.order), np.full(rows, event.update)
        for order in np.unique(orders[(orders < term.order) & (updates == term.update)])[-1:]:
            block = orders == order
            if int(block.sum()) != count:
                continue
            numbers = np.asarray(result[block], dtype=np.float64).reshape(count, -1)
            yield numbers.sum(axis=1)
            value = event.arrays.get("value")
            if value is not None and value[block].size == numbers.size:
                drawn = np.asarray(value[block], dtype=np.float64).reshape(count, -1)
                yield (numbers - np.log(1.0 - np.tanh(drawn) ** 2 + 1e-6)).sum(axis=1)
                yield (numbers - 2.0 * (np.log(2.0) - drawn - np.logaddexp(0.0, -2.0 * drawn))).sum(axis=1)
