"""Probe: a tiny decision problem written as a table, and solved exactly for any γ.

A probe says what happens (`step`), where episodes begin, and what each state looks like. Values, action values and best
actions come from here, and so do the *wrong* answers: what an algorithm with a known mistake would converge to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from rldebug.entry import Entry

Array = NDArray[np.float64]
State = str
Action = int | float  # an index, or, where a probe has a `range`, a number
GRID = 81  # numbers tried where actions are numbers
SCALE_FLOOR = 1e-9


@dataclass(frozen=True)
class Outcome:
    """One thing that may happen: where it leads (None: the episode terminates), and what it pays."""

    probability: float
    next: State | None
    reward: float


@dataclass(frozen=True)
class Solved:
    """Right answers, by look: what an agent that sees only looks, and acts by `best`, should have learned."""

    looks: tuple[str, ...]
    value: Array  # (looks,)
    q: Array  # (looks, actions)
    best: NDArray[np.bool_]  # (looks, actions): may be several
    actions: Array  # what each column stands for: an index, or a number

    def best_action(self, look: str) -> float:
        return float(self.actions[int(np.argmax(self.q[self.looks.index(look)]))])


class Probe(Entry):
    """One rung of the ladder. The docstring is its page; the first line says what is asked."""

    name: ClassVar[str]
    rung: ClassVar[int]  # its place on the ladder
    after: ClassVar[str | None]  # the rung it stands on: what it adds to that one is what is tested
    asks: ClassVar[Literal["value", "policy", "return"]] = "value"
    states: ClassVar[tuple[State, ...]] = ("here",)
    actions: ClassVar[int] = 2  # where they make no difference, two that do the same: one alone is refused by some
    range: ClassVar[tuple[float, float] | None] = None  # actions are numbers between these
    starts: ClassVar[Mapping[State, float] | None] = None  # chances; None: always in the first state
    time_limit: ClassVar[int | None] = None  # the episode is cut off: truncated, not terminated
    obs: ClassVar[str] = "one-hot"
    action: ClassVar[str] = "discrete"
    wants: ClassVar[tuple[str, ...]] = ()  # abilities without which it does not apply: see probes/ladder.py
    patience: ClassVar[float] = 1.0  # times the usual budget
    scale: ClassVar[float | None] = None  # what errors in values are measured by; None: the size of the right answer
    by_order: ClassVar[bool] = False  # of action values only the order is asked: rewards are far from 1 here
    explores: ClassVar[bool] = False  # finding the right action is what is asked, not only learning it
    autoreset: ClassVar[str | None] = None  # how a vector of them restarts: next-step, same-step, disabled
    phases: ClassVar[int] = 1  # the problem changes while the agent learns; `phase` says how far

    def __init__(self, gamma: float = 0.99) -> None:
        if not 0.0 <= gamma <= 1.0:
            raise ValueError(f"gamma is {gamma}, expected a share between 0 and 1")
        self.gamma = gamma
        self.phase = 0

    # ── what a probe says ──

    def step(self, state: State, action: Any) -> tuple[State | None, float] | Sequence[Outcome]:
        """Where the action leads and what it pays: one outcome, or several with their probabilities."""
        raise TypeError(f"{type(self).__name__} does not define step()")

    def look(self, state: State) -> str:
        """What the agent sees: states that look the same cannot be told apart."""
        return state

    def restart(self, last: State) -> Mapping[State, float]:
        """Where the next episode begins, after one that began in `last`."""
        return self.starts or {self.states[0]: 1.0}

    def restart_in(self, env_index: int, last: State) -> Mapping[State, float]:
        """The same, in one of several environments side by side."""
        return self.restart(last)

    def allowed(self, state: State) -> NDArray[np.bool_] | None:
        """`(actions,)`: which may be taken; None where all may."""
        return None

    def limit(self, env_index: int) -> int | None:
        """The time limit of one of several environments side by side."""
        return self.time_limit

    # ── what follows from it ──

    @cached_property
    def looks(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.look(state) for state in self.states))

    @cached_property
    def choices(self) -> Array:
        """What there is to choose from: indices, or a grid of numbers."""
        if self.range is not None:
            return np.linspace(*self.range, GRID)
        return np.arange(self.actions, dtype=float)

    def outcomes(self, state: State, action: Action) -> tuple[Outcome, ...]:
        said = self.step(state, action)
        if isinstance(said, tuple) and len(said) == 2 and not isinstance(said[0], Outcome):
            return (Outcome(1.0, said[0], float(said[1])),)
        return tuple(said)

    def begin(self) -> Mapping[State, float]:
        """Chances of the first state over many episodes: what `restart` settles to."""
        chances = np.full(len(self.states), 1.0 / len(self.states))
        turn = np.zeros((len(self.states),) * 2)
        for i, state in enumerate(self.states):
            for into, chance in self.restart(state).items():
                turn[i, self.states.index(into)] = chance
        settled = chances @ np.linalg.matrix_power(0.5 * (turn + np.eye(len(self.states))), 1 << 12)
        return {state: float(chance) for state, chance in zip(self.states, settled, strict=True) if chance > 1e-9}

    def right(self, declared: Mapping[str, Any]) -> Array | None:
        """Values by look that a sound algorithm with these settings learns; None where they do not say enough."""
        return self.solve().value

    def solve(self, gamma: float | None = None) -> Solved:
        """The right answers, by look: the mean over states that look the same, as often as they occur."""
        gamma = self.gamma if gamma is None else gamma
        move, reward = self._tables()
        value = np.zeros(len(self.states))
        q = reward.copy()
        for _ in range(20_000):
            q = reward + gamma * move @ value
            after = q.max(axis=1)
            if np.max(np.abs(after - value)) < 1e-12 * max(1.0, float(np.abs(after).max())):
                break
            value = after
        share = self._occupancy(move, q)
        by_look_q = self._by_look(q, share)
        top = by_look_q.max(axis=1, keepdims=True)
        near = 1e-6 + (0.0 if self.range is None else 0.02) * np.ptp(by_look_q, axis=1, keepdims=True)
        best = by_look_q >= top - near
        return Solved(self.looks, self._by_look(q.max(axis=1)[:, None], share)[:, 0], by_look_q, best, self.choices)

    def evaluate(self, policy: Array, gamma: float | None = None, bonus: Array | None = None) -> Array:
        """Values by look of a policy `(looks, actions)`; a `bonus` by look is paid on arrival, as SAC does."""
        gamma = self.gamma if gamma is None else gamma
        move, reward = self._tables()
        row = [self.looks.index(self.look(state)) for state in self.states]
        pi = policy[row]
        step = np.einsum("sa,sat->st", pi, move)
        paid = (pi * reward).sum(axis=1)
        if bonus is not None:
            paid = paid + gamma * step @ bonus[row]
        value = np.linalg.solve(np.eye(len(self.states)) - min(gamma, 1 - 1e-9) * step, paid)
        return self._by_look(value[:, None], self._occupancy(move, None, pi))[:, 0]

    def returns(self) -> tuple[float, float]:
        """Undiscounted return per episode of acting at random, and of acting best (by look)."""
        move, reward = self._tables()
        solved = self.solve()
        row = [self.looks.index(self.look(state)) for state in self.states]
        best = solved.best[row] / solved.best[row].sum(axis=1, keepdims=True)
        random = np.full_like(best, 1.0 / best.shape[1])
        return self._return(random, move, reward), self._return(best, move, reward)

    def wrong_answers(self, gamma: float | None = None) -> dict[str, Array]:
        """Values by look that known mistakes lead to. Only for probes whose actions make no difference.

        Mistakes that have the right answer here are left out: this probe cannot tell them.
        """
        gamma = self.gamma if gamma is None else gamma
        move, reward = self._tables()
        step, paid = move.mean(axis=1), reward.mean(axis=1)
        share = self._occupancy(move, None, np.full((len(self.states), move.shape[1]), 1.0 / move.shape[1]))
        ends = 1.0 - step.sum(axis=1)
        again = np.zeros_like(step)  # where the next episode begins
        begin = self.begin()
        for i, state in enumerate(self.states):
            chances = self.restart(state) if state in begin else begin
            for into, chance in chances.items():
                again[i, self.states.index(into)] = chance
        through = step + ends[:, None] * again

        def fixed(move: Array, paid: Array, gamma: float) -> Array | None:
            matrix = np.eye(len(paid)) - gamma * move
            if np.linalg.cond(matrix) > 1e8:
                return None
            return np.asarray(np.linalg.solve(matrix, paid))

        right = fixed(step, paid, gamma)
        assert right is not None
        flat = np.full(len(paid), float((share * right).sum() / share.sum()))
        found: dict[str, Array | None] = {
            "end-ignored": fixed(through, paid, gamma),
            "undiscounted": fixed(step, paid, 1.0),
            "discounted-twice": fixed(step, paid, gamma * gamma),
            "future-ignored": paid,
            "reward-late": fixed(step, through @ paid, gamma),
            "sign-flipped": -right,
            "same-for-all": flat,
            "nothing-learned": np.zeros_like(right),
        }
        if self.limit(0) is not None:
            found["truncation-as-end"] = self._cut(step, paid, gamma, None, right)
            found["reset-obs-bootstrapped"] = self._cut(step, paid, gamma, through=again, right=right)
        by_look = {
            name: self._by_look(each[:, None], share)[:, 0]
            for name, each in found.items()
            if each is not None and np.isfinite(each).all()
        }
        answer = self._by_look(right[:, None], share)[:, 0]
        return {
            name: each for name, each in by_look.items() if not np.allclose(each, answer, atol=1e-3 * _size(answer))
        }

    def _cut(self, step: Array, paid: Array, gamma: float, through: Array | None, right: Array) -> Array | None:
        """Values where a cut-off episode is taken for one that ended (or went on in the first state of the next).

        By state and time, played over all limits; then averaged over the times at which a state is seen.
        """
        limits = {limit for limit in (self.limit(i) for i in range(4)) if limit is not None}
        n = len(paid)
        begin = np.array([self.begin().get(state, 0.0) for state in self.states])
        estimate = np.zeros(n)
        for _ in range(2000):
            total, seen = np.zeros(n), np.zeros(n)
            for limit in limits:
                here = begin.copy()
                for t in range(limit):
                    last = t == limit - 1
                    ahead = step @ estimate
                    if last:
                        ahead = np.zeros(n) if through is None else step.sum(axis=1) * (through @ estimate)
                    total += here * (paid + gamma * ahead)
                    seen += here
                    here = here @ step
            after = np.where(seen > 0, total / np.maximum(seen, SCALE_FLOOR), right)
            if np.max(np.abs(after - estimate)) < 1e-9:
                return after
            estimate = after
        return estimate

    # ── tables ──

    def _tables(self) -> tuple[Array, Array]:
        """`(states, actions, states)` chances to go on, `(states, actions)` expected rewards."""
        n, m = len(self.states), len(self.choices)
        move, reward = np.zeros((n, m, n)), np.zeros((n, m))
        for i, state in enumerate(self.states):
            for j, choice in enumerate(self.choices):
                for each in self.outcomes(state, int(choice) if self.range is None else float(choice)):
                    reward[i, j] += each.probability * each.reward
                    if each.next is not None:
                        move[i, j, self.states.index(each.next)] += each.probability
        return move, reward

    def _occupancy(self, move: Array, q: Array | None, policy: Array | None = None) -> Array:
        """How often each state occurs, acting by the policy, or with the best of `q`."""
        if policy is None:
            assert q is not None
            top = q >= q.max(axis=1, keepdims=True) - 1e-9
            policy = top / top.sum(axis=1, keepdims=True)
        step = np.einsum("sa,sat->st", policy, move)
        here = np.array([self.begin().get(state, 0.0) for state in self.states])
        seen = np.zeros(len(self.states))
        for _ in range(self.limit(0) or 200):
            seen += here
            here = here @ step
        return np.asarray(seen + 1e-9)

    def _by_look(self, table: Array, share: Array) -> Array:
        out = np.zeros((len(self.looks), table.shape[1]))
        weight = np.zeros((len(self.looks), 1))
        for i, state in enumerate(self.states):
            row = self.looks.index(self.look(state))
            out[row] += share[i] * table[i]
            weight[row] += share[i]
        return out / weight

    def _return(self, policy: Array, move: Array, reward: Array) -> float:
        here = np.array([self.begin().get(state, 0.0) for state in self.states])
        step, paid = np.einsum("sa,sat->st", policy, move), (policy * reward).sum(axis=1)
        total = 0.0
        for _ in range(self.limit(0) or 200):
            total += float(here @ paid)
            here = here @ step
        return total


def _size(answer: Array) -> float:
    return max(float(np.abs(answer).max()), SCALE_FLOOR)
