"""What an algorithm has learned of a probe: its values, its policy, what it plays, beside the right answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from rldebug.probes.agent import Factory, Learner, batch
from rldebug.probes.environment import ProbeEnv, Step
from rldebug.probes.probe import Probe
from rldebug.target import TargetError

Array = NDArray[np.float64]
TIMES = 8  # observations of each look: where noise is shown beside it, what is learned is their mean
LATELY = 400  # steps, and episodes, of which frequencies and returns are taken


class CannotTell(Exception):
    """The target shows nothing that answers what this probe asks; says what it would have to show."""


@dataclass(frozen=True)
class Measured:
    error: float  # 0: right; 1: as bad as not learning; of the worst look
    value: Array | None = None
    policy: Array | None = None
    frequencies: Array | None = None
    returns: float | None = None
    right: Array | None = None
    trend: float | None = None  # the same, on average over the looks: falls long before that of the worst, in a chain
    tried: int | None = None  # how often the right action was played, where it was played least


def measure(
    learner: Learner, factory: Factory, declared: Mapping[str, Any], rng: np.random.Generator, since: int = 0
) -> Measured:
    """Ask the learner, and look at what it played. Raises CannotTell, or TargetError where it answers nonsense.

    `since`: the step at which the problem last changed.
    """
    probe, env = factory.probe, factory.sample
    obs = batch(env, rng, TIMES)
    played = frequencies(factory.log, probe)
    returns = mean_return(factory.log)
    if probe.asks == "value":
        value = learned_value(learner, env, obs)
        right = probe.right(declared)
        if right is None:
            return Measured(0.0, value, None, played, returns, None)
        if learner.bonus is not None:
            right = right + _soft(probe, _array(learner.bonus(obs), "bonus(obs)").reshape(-1, TIMES).mean(axis=1))
        # What was never shown cannot have been learned: one environment alone does not see what its neighbours would.
        seen = _seen(factory.log, probe)
        value = np.where(seen, value, right)
        off = np.abs(value - right) / size_of(probe, right)
        return Measured(float(off.max()), value, None, played, returns, right, trend=float(off.mean()))
    if probe.asks == "policy":
        policy = learned_policy(learner, env, obs) if _tells_policy(learner) else played
        solved = probe.solve()
        if policy is not None and not np.isfinite(policy).all() and returns is not None:
            random, best = probe.returns()  # some states are no longer met: the return tells whether they need be
            return Measured((best - returns) / (best - random), None, None, played, returns, None)
        if policy is None or not np.isfinite(policy).all():
            raise CannotTell("it shows no policy(obs) or q(obs), and has not played in every state lately")
        off = regrets(probe, policy)
        right = _as_chances(solved.best, probe, solved)
        tried = _tried(factory.log[since:], probe, solved.best)
        worst = float(off.max(initial=0.0))
        return Measured(worst, None, policy, played, returns, right, trend=float(off.mean()), tried=tried)
    if returns is None:
        return Measured(1.0, None, None, played, None, None)
    random, best = probe.returns()
    return Measured((best - returns) / (best - random), None, None, played, returns, None)


def learned_value(learner: Learner, env: ProbeEnv, obs: Any) -> Array:
    """(looks,)"""
    n = len(env.probe.looks)
    if learner.value is not None:
        value = _array(learner.value(obs), "value(obs)")
        if value.size != n * TIMES:
            raise TargetError(
                f"value(obs) has shape {value.shape} for {n * TIMES} observations, expected one number each"
            )
        return np.asarray(value.reshape(n, TIMES).mean(axis=1))
    if learner.q is None:
        raise CannotTell("it shows no value(obs) and no q(obs)")
    q = _action_values(learner, env, obs)
    # The best of several noisy estimates is too large. Where actions make no difference, their mean is the value too.
    return np.asarray(q.mean(axis=(1, 2)))


def learned_policy(learner: Learner, env: ProbeEnv, obs: Any) -> Array:
    """(looks, choices) chances; or (looks, 1) numbers, where the probe has a range."""
    probe, n = env.probe, len(env.probe.looks)
    if learner.policy is not None:
        said = _array(learner.policy(obs), "policy(obs)")
        if said.ndim == 2 and said.shape == (n * TIMES, probe.actions) and _are_chances(said, env):
            return np.asarray(said.reshape(n, TIMES, -1).mean(axis=1))
        if len(said) != n * TIMES:
            raise TargetError(
                f"policy(obs) has shape {said.shape} for {n * TIMES} observations, expected a row for each"
            )
        chosen = [env.read(_as_action(row, env)) for row in said.reshape(n * TIMES, -1)]
    else:
        return _by_gaps(_action_values(learner, env, obs).mean(axis=1), probe)
    by_look = np.array(chosen).reshape(n, TIMES)
    if probe.range is not None:
        return np.asarray(by_look.mean(axis=1, keepdims=True))
    return np.stack([(by_look == choice).mean(axis=1) for choice in range(probe.actions)], axis=1)


def _action_values(learner: Learner, env: ProbeEnv, obs: Any) -> Array:
    """(looks, TIMES, actions)"""
    assert learner.q is not None
    rows, actions = len(env.probe.looks) * TIMES, env.probe.actions
    q = _array(learner.q(obs), "q(obs)")
    if q.shape != (rows, actions):
        raise TargetError(
            f"q(obs) has shape {q.shape} for {rows} observations, expected {(rows, actions)}: one per action"
        )
    return q.reshape(-1, TIMES, actions)


def _by_gaps(q: Array, probe: Probe) -> Array:
    """(looks, choices): chances that say how clearly action values tell the actions apart.

    The best of two that are alike is the right one half of the time. What counts is the gap between them, beside the
    gap that is right: a quarter of that is the temperature.
    """
    right = probe.solve().q
    gap = np.ptp(q if probe.by_order else right, axis=1, keepdims=True)
    sharp = np.exp((q - q.max(axis=1, keepdims=True)) / np.maximum(0.25 * gap, 1e-12))
    return np.asarray(sharp / sharp.sum(axis=1, keepdims=True))


def regrets(probe: Probe, policy: Array) -> Array:
    """What the policy gives away, at every look where it matters, as a share of what acting at random gives away."""
    solved = probe.solve()
    top, mean = solved.q.max(axis=1), solved.q.mean(axis=1)
    if probe.range is not None:
        got = np.array([np.interp(policy[i, 0], solved.actions, solved.q[i]) for i in range(len(policy))])
    else:
        got = (policy * solved.q).sum(axis=1)
    matters = top - mean > 1e-6 * max(float(np.abs(top).max()), 1e-12)
    return np.asarray(((top - got) / np.where(matters, top - mean, 1.0))[matters])


def frequencies(log: Sequence[Step], probe: Probe) -> Array | None:
    """(looks, choices): shares of what was played lately; NaN in looks that were not seen."""
    if probe.range is not None or not log:
        return None
    counts = np.zeros((len(probe.looks), probe.actions))
    for step in log[-LATELY:]:
        counts[step.look, int(step.action)] += 1
    with np.errstate(invalid="ignore"):
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def mean_return(log: Sequence[Step]) -> float | None:
    """Of the last whole episodes."""
    running: dict[int, float] = {}
    ended: list[float] = []
    for step in log[-4 * LATELY :]:
        running[step.env] = running.get(step.env, 0.0) + step.reward
        if step.ended:
            ended.append(running.pop(step.env))
    lately = ended[-LATELY // 4 :]
    return float(np.mean(lately)) if len(lately) >= 10 else None


def forbidden_share(log: Sequence[Step]) -> float | None:
    lately = log[-LATELY:]
    return float(np.mean([not each.allowed for each in lately])) if lately else None


def size_of(probe: Probe, right: Array) -> float:
    """What errors in values are measured by: the spread of right answers, or their size."""
    if probe.scale is not None:
        return probe.scale
    return max(float(np.ptp(right)), float(np.abs(right).max()), 1e-9)


def _tried(log: Sequence[Step], probe: Probe, best: NDArray[np.bool_]) -> int | None:
    """How often a best action was played, in the look of those that were met where that was least often."""
    if probe.range is not None or not log:
        return None
    times: dict[int, int] = {}
    for step in log:
        times[step.look] = times.get(step.look, 0) + int(best[step.look, int(step.action)])
    return min(times.values())


def _seen(log: Sequence[Step], probe: Probe) -> NDArray[np.bool_]:
    seen = np.zeros(len(probe.looks), dtype=bool)
    seen[list({each.look for each in log})] = True
    return seen


def _soft(probe: Probe, bonus: Array) -> Array:
    """How much a soft critic's values exceed the plain ones, in a probe whose actions make no difference."""
    even = np.full((len(probe.looks), len(probe.choices)), 1.0 / len(probe.choices))
    return probe.evaluate(even, bonus=bonus) - probe.evaluate(even)


def _as_chances(best: NDArray[np.bool_], probe: Probe, solved: Any) -> Array:
    if probe.range is not None:
        return np.array([[solved.best_action(look)] for look in solved.looks])
    return np.asarray(best / best.sum(axis=1, keepdims=True))


def _tells_policy(learner: Learner) -> bool:
    return learner.policy is not None or learner.q is not None


def _are_chances(said: Array, env: ProbeEnv) -> bool:
    if isinstance(env.action_space, (gym.spaces.Box, gym.spaces.MultiDiscrete)):
        return False
    return bool(said.min() >= -1e-4 and np.allclose(said.sum(axis=1), 1.0, atol=1e-2))


def _as_action(row: Array, env: ProbeEnv) -> Any:
    if isinstance(env.action_space, gym.spaces.Box):
        return np.clip(row, env.action_space.low, env.action_space.high)
    return row.astype(np.int64)


def _array(said: Any, what: str) -> Array:
    """Whatever it is (numpy, torch with a graph, a list) as an array of numbers; NaN is refused with its place."""
    detach: Callable[[], Any] | None = getattr(said, "detach", None)
    plain = np.asarray(detach().cpu().numpy() if detach is not None else said, dtype=float)
    if not np.isfinite(plain).all():
        raise FloatingPointError(f"{what} is not finite")
    return plain
