"""Sets of rows that look the same, and of steps that they may be: paired by what a formula says the targets are.

A formula is taken as right where nearly every row has a step, among those it may be, with the target that the formula
says, and where rows of other classes do not find theirs. γ and λ are looked for on a coarse grid. The pairs that it
makes are mostly right already, so that the recursion fitted to them (robustly) says γ and λ to rounding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from rldebug.evidence.script import UNKNOWN, Audit, Event
from rldebug.forensics.acting_values import by_look, values_of
from rldebug.forensics.node_places import Array, Flags, Ints, after, given_up, places_of
from rldebug.forensics.robust_fit import robust, tolerance

_GAMMAS = (0.0, 0.5, 0.8, 0.9, 0.95, 0.97, 0.98, 0.99, 0.995, 0.999, 1.0)
_LAMBDAS = (0.0, 0.5, 0.8, 0.9, 0.95, 0.98, 1.0)
_ROWS = 24
_SOME = 512  # rows that a formula is judged by
_FEW = 64  # steps that a row may be, for it to tell
_GOOD = 0.9  # share of the rows that find their target
_ALL = 0.98  # so good that no mistake is looked for
_CHANCE = 0.6  # of that share may be found by rows of other classes
_TRIES = 4  # audits that no formula explains, and then no more are tried
_STARTS = 3  # points of the grid that are looked at closely
_MORE = 0.05  # that a mistake must explain beyond the right formula


@dataclass(frozen=True, eq=False)
class Classes:
    """Steps by what rows of them look like."""

    members: dict[tuple[float, ...], tuple[int, ...]]
    acts: bool  # by the action too

    @staticmethod
    def make(look: Ints, steps: Ints, action: Array | None = None) -> Classes:
        found: dict[tuple[float, ...], list[int]] = {}
        for number, step in enumerate(steps.tolist()):
            found.setdefault(_key(look, action, number), []).append(step)
        return Classes({key: tuple(each) for key, each in found.items()}, action is not None)

    def of(self, look: Ints, action: Array | None) -> list[tuple[int, ...]]:
        """Of each row the steps that it may be; none where the row is unknown, or has no action."""
        if self.acts and action is None:
            return [()] * len(look)
        return [self.members.get(_key(look, action, row), ()) for row in range(len(look))]


def _key(look: Ints, action: Array | None, row: int) -> tuple[float, ...]:
    return (int(look[row]), *(() if action is None else np.round(action[row], 4).tolist()))


@dataclass(frozen=True, eq=False)
class _World:
    """A stretch of acting: one number for each step, and which step came next in the lane."""

    steps: Ints  # places of nodes
    reward: Array
    own: Array  # values
    onward: Array  # of what was acted on next
    final: Array  # of where the step led
    after: Ints  # numbers of steps; UNKNOWN where the stretch ends
    terminated: Flags
    truncated: Flags
    waves: tuple[Ints, ...]  # numbers of steps, those that nothing depends on first

    @staticmethod
    def of(audit: Audit, base: int, steps: Ints, terms: Sequence[Event]) -> _World:
        nodes = audit.nodes
        value = by_look(audit, values_of(audit, base, terms, steps))
        led = after(nodes)[steps]
        nxt = places_of(nodes, nodes.nxt[steps])
        number = {step: n for n, step in enumerate(steps.tolist())}
        follow = np.array([number.get(int(each), UNKNOWN) for each in led], dtype=np.int64)
        left = given_up(nodes, steps, led)
        return _World(
            steps, nodes.reward[steps], value[steps], value[np.where(led >= 0, led, len(nodes))],
            value[np.where(nxt >= 0, nxt, len(nodes))], follow, nodes.terminated[steps],
            (nodes.truncated[steps] | left) & ~nodes.terminated[steps], _waves(follow),
        )  # fmt: skip

    def targets(self, way: _Way, gamma: Array, lam: Array) -> Array:
        """(steps, formulas): what each would be by each formula."""
        made = np.full((len(self.steps), len(gamma)), np.nan)
        reward = self.rewards(way)[:, None]
        on_value, on_target = gamma * (1.0 - lam), gamma * lam

        def bootstrap(value: Array, factor: Array) -> Array:
            return np.where(factor == 0.0, 0.0, factor * value[:, None])

        for wave in self.waves:
            led = self.after[wave]
            following = np.where((led >= 0)[:, None], made[led], self.onward[wave][:, None])
            inner = bootstrap(self.onward[wave], on_value) + np.where(on_target == 0.0, 0.0, on_target * following)
            value = bootstrap(self.onward[wave], gamma)
            ways = {
                "zero": np.zeros_like(inner),
                "value": value,
                "final": bootstrap(self.final[wave], gamma),
                "follows": inner,
                "leak": np.where((led >= 0)[:, None], inner - value, 0.0),
                "own": bootstrap(self.own[wave], gamma),
                "both": bootstrap(self.final[wave], gamma) + np.where((led >= 0)[:, None], inner - value, 0.0),
            }
            more = np.where((led < 0)[:, None], ways[way.rollout], inner)
            more = np.where(self.truncated[wave][:, None], ways[way.truncated], more)
            more = np.where(self.terminated[wave][:, None], ways[way.terminated], more)
            made[wave] = reward[wave] + more
        return made - self.own[:, None] if way.less else made

    def rewards(self, way: _Way) -> Array:
        if not way.reward:
            return self.reward
        has = self.after >= 0
        late, early = self.reward.copy(), np.where(has, self.reward[self.after], self.reward)
        late[self.after[has]] = self.reward[has]
        return late if way.reward == "late" else early


def _waves(after: Ints) -> tuple[Ints, ...]:
    depth = np.zeros(len(after), dtype=np.int64)
    for number in range(len(after) - 1, -1, -1):  # steps rise with time: what follows comes later
        if after[number] > number:
            depth[number] = depth[after[number]] + 1
    order = np.argsort(depth, kind="stable")
    return tuple(np.split(order, np.cumsum(np.bincount(depth))[:-1]))


@dataclass(frozen=True)
class _Way:
    terminated: str = "zero"
    truncated: str = "final"
    rollout: str = "value"
    reward: str = ""  # late, early: of the step before, of the one after
    less: bool = False  # advantages: the value is taken off


def _ways(world: _World) -> Iterator[_Way]:
    """How ends may be made, the right ones first."""
    right = _Way()
    if world.terminated.any():
        for each in ("follows", "value", "leak", "final"):
            yield replace(right, terminated=each)
    if world.truncated.any():
        for each in ("zero", "follows", "value", "leak"):
            yield replace(right, truncated=each)
    if world.terminated.any() and world.truncated.any():
        for each in ("follows", "value", "leak"):
            yield replace(right, terminated=each, truncated=each)
        yield replace(right, terminated="leak", truncated="both")
    for each in ("zero", "own"):
        yield replace(right, rollout=each)
        if world.truncated.any():
            yield replace(right, truncated="zero", rollout=each)
    yield replace(right, less=True)
    for each in ("late", "early"):
        yield replace(right, reward=each)
        if world.truncated.any():
            yield replace(right, truncated="zero", reward=each)


@dataclass
class Known:
    """What explained the audits before: it is tried first. After some that nothing explained no more are tried."""

    found: list[tuple[_Way, float, float]] = field(default_factory=list)
    failed: int = 0


def paired(
    audit: Audit, base: int, steps: Ints, members: Sequence[Sequence[tuple[int, ...]]],
    targets: Sequence[Array | None], terms: Sequence[Event], known: Known,
) -> list[Ints] | None:  # fmt: skip
    """Places of the rows of each batch, UNKNOWN where they are not told. None where no formula is believed."""
    flat = [one for each in members for one in each]
    target = np.concatenate([each for each in targets if each is not None]) if targets else np.empty(0)
    if len(flat) != len(target) or not len(flat) or (known.failed >= _TRIES and not known.found):
        return None
    number = {step: n for n, step in enumerate(steps.tolist())}
    numbers = [np.array([number[step] for step in each], dtype=np.int64) for each in flat]
    tells = [row for row, each in enumerate(numbers) if 1 <= len(each) <= _FEW and np.isfinite(target[row])]
    if len(tells) < _ROWS:
        return None
    world = _World.of(audit, base, steps, terms)
    spread = float(np.std(target[tells]))
    tol = tolerance(target[tells], world.reward[np.isfinite(world.reward)])
    if spread < 100 * tol:
        return None
    some = np.array(tells)[np.linspace(0, len(tells) - 1, min(_SOME, len(tells))).astype(int)]
    judge = _Judge(world, _padded([numbers[row] for row in some]), target[some], tol, spread)
    made = judge.believed(known)
    return None if made is None else _split(_pairs(numbers, target, made, 3.0 * tol, steps), members)


def _padded(numbers: Sequence[Ints]) -> Ints:
    """One row each, its last step again and again where it has fewer."""
    width = max(len(each) for each in numbers)
    table = np.empty((len(numbers), width), dtype=np.int64)
    for row, each in enumerate(numbers):
        table[row, : len(each)], table[row, len(each) :] = each, each[-1]
    return table


_Found = tuple[float, "Array | None", tuple[_Way, float, float]]


@dataclass(frozen=True, eq=False)
class _Judge:
    world: _World
    table: Ints  # (rows, steps that each may be)
    target: Array
    tol: float
    spread: float

    def believed(self, known: Known) -> Array | None:
        """The target of each step, by the formula that explains the rows."""
        best = self._good(known)
        share, made, by = best
        if made is None or share < _GOOD or self._chance(made) > _CHANCE * share:
            known.failed += 1
            return None
        if by not in known.found:
            known.found.append(by)
        return made

    def _good(self, known: Known) -> _Found:
        for by in known.found:
            share, made = self._share(*by)
            if share >= _ALL:
                return share, made, by
        right = best = self._best(_Way())
        if right[0] < _ALL:
            for way in _ways(self.world):
                # Ends that are made otherwise leave γ and λ as they are: the pairs have told them already.
                within = right[2][1] > 0 and not (way.less or way.reward)
                found = self._at(way, *right[2][1:]) if within else self._best(way)
                if found[0] > max(best[0], right[0] + _MORE):
                    best = found
                if best[0] >= _ALL:
                    break
        return best

    def _at(self, way: _Way, gamma: float, lam: float) -> _Found:
        share, made = self._share(way, gamma, lam)
        again = self._refined(way, made) if share < _ALL else None
        better = (0.0, made) if again is None else self._share(way, *again)
        if again is None or better[0] <= share:
            return share, made, (way, gamma, lam)
        return *better, (way, *again)

    def _share(self, way: _Way, gamma: float, lam: float) -> tuple[float, Array]:
        """Of the rows that find their target by this formula, and the targets of all steps by it."""
        made = self.world.targets(way, np.array([gamma]), np.array([lam]))
        return float((self._off(made)[:, 0] <= 3.0 * self.tol).mean()), made[:, 0]

    def _off(self, made: Array) -> Array:
        """(rows, formulas): how far the nearest step that a row may be is from its target."""
        off = np.full((len(self.table), made.shape[1]), np.inf)
        for column in self.table.T:
            off = np.fmin(off, np.abs(made[column] - self.target[:, None]))
        return off

    def _best(self, way: _Way) -> _Found:
        gamma, lam = (np.ravel(each) for each in np.meshgrid(_GAMMAS, _LAMBDAS))
        made = self.world.targets(way, gamma, lam)
        weight = 1.0 / (1.0 + (self.table[:, 1:] != self.table[:, :-1]).sum(axis=1))
        score = (np.minimum(self._off(made) / self.spread, 1.0) * weight[:, None]).sum(axis=0)
        best: _Found = (0.0, None, (way, 0.0, 0.0))
        for place in np.argsort(score)[:_STARTS].tolist():
            for one in (self._refined(way, made[:, place]), (float(gamma[place]), float(lam[place]))):
                if one is None:
                    continue
                share, again = self._share(way, *one)
                if share > best[0]:
                    best = (share, again, (way, *one))
            if best[0] >= _ALL:
                break
        return best

    def _refined(self, way: _Way, made: Array) -> tuple[float, float] | None:
        """γ and λ by the recursion that the pairs follow."""
        off = np.nan_to_num(np.abs(made[self.table] - self.target[:, None]), nan=np.inf)
        near = self.table[np.arange(len(self.table)), off.argmin(axis=1)]
        target = np.full(len(made), np.nan)
        target[near[::-1]] = self.target[::-1]
        world = self.world
        target = target + world.own if way.less else target
        inner = (world.after >= 0) & ~world.terminated & ~world.truncated
        following = np.where(world.after >= 0, target[world.after], np.nan)
        y = target - world.rewards(way)
        for columns in ((world.onward, following), (following,), (world.onward,)):
            keep = inner & np.isfinite(y)
            for each in columns:
                keep = keep & np.isfinite(each)
            if keep.sum() < 12:
                continue
            fit = robust(y[keep], [each[keep] for each in columns], self.tol)
            if fit and fit.share > 0.3:
                on_target = float(fit.coef[-1]) if columns[-1] is following else 0.0
                gamma = float(fit.coef.sum())
                if 0.0 < gamma < 1.02:
                    return gamma, min(max(on_target / gamma, 0.0), 1.0)
        return None

    def _chance(self, made: Array) -> float:
        """The share of rows that find their target among the steps of another row, by the same formula."""
        shuffled = np.random.Generator(np.random.PCG64(0)).permutation(len(self.target))
        other = replace(self, target=self.target[shuffled])
        return float((other._off(made[:, None])[:, 0] <= 3.0 * self.tol).mean())


def _pairs(numbers: Sequence[Ints], target: Array, made: Array, tol: float, steps: Ints) -> Ints:
    """Each row with a step of its own that has its target; rows of equal targets take turns."""
    found = np.full(len(numbers), UNKNOWN, dtype=np.int64)
    offs = [np.abs(made[each] - target[row]) for row, each in enumerate(numbers)]
    least = np.array([np.nanmin(each) if np.isfinite(each).any() else np.inf for each in offs])
    exact = 20.0 * float(np.median(least[least <= tol])) if (least <= tol).any() else 0.0  # what rounding leaves
    turns: dict[tuple[int, ...], int] = {}
    for row, (members, off) in enumerate(zip(numbers, offs, strict=True)):
        if len(members) == 1:
            found[row] = steps[members[0]]
        elif least[row] <= tol:
            near = tuple(members[off <= max(least[row], min(exact, tol))].tolist())
            turn = turns[near] = turns.get(near, -1) + 1
            found[row] = steps[near[turn % len(near)]]
    return found


def _split(found: Ints, like: Sequence[Sequence[object]]) -> list[Ints]:
    return np.split(found, np.cumsum([len(each) for each in like])[:-1])
