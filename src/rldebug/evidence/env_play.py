"""What known agents met when they played an environment: returns, lengths, rewards, scales, what actions change.

Facts only; `rldebug.probes.play` collects them. Whatever was not measured keeps its default: NaN, None or empty.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Play:
    """What one agent did. Returns and lengths are of the episodes that ended."""

    agent: str  # "random", "always 0", …
    kind: str  # random, constant, automaton, written, cheat or tabular
    returns: tuple[float, ...] = ()
    lengths: tuple[int, ...] = ()
    terminated: int = 0  # episodes that ended by `terminated`, with or without `truncated`
    truncated: int = 0  # episodes that ended by `truncated` alone
    steps: int = 0
    longest: int = 0  # steps since a reset, ended or not
    interval: tuple[float, float] = (math.nan, math.nan)  # 95 %, of the mean return
    problem: str = ""  # what stopped it: an exception in words

    @property
    def episodes(self) -> int:
        return len(self.returns)

    @property
    def mean(self) -> float:
        return sum(self.returns) / len(self.returns) if self.returns else math.nan

    @property
    def length(self) -> float:
        return sum(self.lengths) / len(self.lengths) if self.lengths else math.nan


@dataclass(frozen=True)
class Rewards:
    """Rewards of single steps, of all players together."""

    steps: int = 0
    distinct: int = 0  # values, counted up to 1000
    low: float = math.nan
    high: float = math.nan
    rms: float = math.nan
    zeros: int = 0  # steps with a reward of 0
    middle: float = math.nan  # median size of those that are not 0
    largest: tuple[float, ...] = ()  # the 20 largest by size, signed, of steps that did not end an episode
    counts: tuple[int, ...] = ()  # histogram between low and high


@dataclass(frozen=True)
class Element:
    """One number of the observation, over all players. Pixels and choices (Discrete) are not listed."""

    where: str  # obs[3], obs['speed'][0]
    low: float
    high: float
    mean: float
    std: float
    distinct: int  # values, counted up to 1000
    twin: str = ""  # another element of the same array that had the same value at every step

    @property
    def rms(self) -> float:
        return math.hypot(self.mean, self.std)


@dataclass(frozen=True)
class Twins:
    """Pairs of episodes from the same seed that were played with different actions."""

    pairs: int = 0
    steps: int = 0  # compared, over all pairs
    ended: int = 0  # pairs that were played to the end of the episode
    repeatable: bool = True  # the same seed and the same actions gave the same episode again
    obs_differ: int = 0  # pairs in which an observation differed
    rewards_differ: int = 0
    ends_differ: int = 0  # the end, or the way it ended
    rewards_vary: bool = False  # within an episode


@dataclass(frozen=True)
class Effects:
    """Single actions tried in turn from the same state; compared were that step and a few after it."""

    tries: int = 0  # states
    tried: tuple[str, ...] = ()  # discrete actions, or dimensions of a Box
    same: tuple[tuple[str, ...], ...] = ()  # discrete actions with the same consequences in every try
    idle: tuple[str, ...] = ()  # dimensions that changed nothing in any try, from one bound to the other


@dataclass(frozen=True)
class Foretold:
    """An element of the observation that gives away the reward of the coming step: reward = ratio × element."""

    where: str
    ratios: tuple[tuple[str, float], ...]  # by action
    share: float  # of steps at which it holds
    steps: int
    distinct: int  # values of the element
    exogenous: bool  # the element goes its way whatever is done


@dataclass(frozen=True)
class EnvPlay:
    """All that was played, and what was measured on the way."""

    name: str
    plays: tuple[Play, ...] = ()
    rewards: Rewards = Rewards()
    elements: tuple[Element, ...] = ()
    twins: Twins = Twins()
    effects: Effects = Effects()
    foretold: tuple[Foretold, ...] = ()
    observation_space: str = ""
    action_space: str = ""
    actions: float = math.nan  # how many there are; infinite for a Box
    obs_can_vary: bool = True  # the space holds more than one value
    obs_compared: int = 0  # steps of which the observation was compared with the one before
    obs_changed: int = 0  # of these, how many differed
    time_told: float = math.nan  # R² of the time within an episode, from the observation
    reward_told: float = math.nan  # R² of the reward, from observation, action and next observation
    unseen: float = math.nan  # chance that one more step meets a state and action not tried before (Good and Turing)
    alike: float = math.nan  # p-value: the returns of all players come from one distribution
    time_limit: int | None = None  # of a TimeLimit wrapper, or registered
    reward_threshold: float | None = None  # registered as "solved"
    step_seconds: float = math.nan  # median time of a step
    left_out: tuple[str, ...] = ()  # players that could not play, and why
    seconds: float = field(default=0.0, compare=False)

    def play(self, kind: str) -> Play | None:
        """The first of this kind."""
        return next((each for each in self.plays if each.kind == kind), None)

    @property
    def best_constant(self) -> Play | None:
        ended = [each for each in self.plays if each.kind == "constant" and each.episodes]
        return max(ended, key=lambda each: each.mean, default=None)

    @property
    def lengths(self) -> tuple[int, ...]:
        return tuple(length for each in self.plays for length in each.lengths)

    @property
    def episodes(self) -> int:
        return sum(each.episodes for each in self.plays)

    @property
    def steps(self) -> int:
        return sum(each.steps for each in self.plays)

    def to_dict(self) -> dict[str, Any]:
        """For JSON: NaN becomes None, and of each player's episodes only the figures are kept."""
        data = _plain(asdict(self))
        for row, each in zip(data["plays"], self.plays, strict=True):
            del row["returns"], row["lengths"]
            row |= {"episodes": each.episodes, "mean": _plain(each.mean), "length": _plain(each.length)}
        return dict(data)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
