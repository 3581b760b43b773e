"""The sizes that a run had, read off its Timing: how long a rollout, how wide an observation, who acts, who learns."""

from __future__ import annotations

from dataclasses import dataclass

from rldebug.evidence.timing import Environment, Network, Timing, total
from rldebug.yardstick.layers import layers_of

ENOUGH = 0.03
"""Share of the time of a run below which nothing is measured: it would not be worth advice."""

MOST_PARAMETERS = 20_000_000


@dataclass(frozen=True)
class Shape:
    """What is to be measured: sizes that the run had. A measurement reads those that it needs."""

    share: float  # of the run's time that is spent on it
    steps: int = 1  # calls of the environment in one stretch of acting
    lanes: int = 1
    width: int = 1  # numbers in an observation
    dtype: str = "float32"  # of them
    rows: int = 1  # of a batch that is learned from
    capacity: int = 1  # of a replay buffer
    copies: int = 1  # equal networks
    networks: tuple[Network, ...] = ()
    threads: int = 1
    cores: int = 1
    spec: str = ""
    limit: float = 3.0  # seconds that are left

    @property
    def network(self) -> Network:
        return self.networks[0]


def share(timing: Timing, *parts: str) -> float:
    """Of the time of the run that these parts took; 0 where it is not enough to ask for anything."""
    found = timing.share(total(timing.of(*parts)))
    return found if found >= ENOUGH else 0.0


def played(timing: Timing) -> tuple[int, int]:
    """Calls of environments per stretch of acting, and lanes; 0 calls where nothing was played or learned."""
    environments = training_environments(timing)
    if not environments or not timing.phases:
        return 0, 0
    calls = sum(each.calls for each in environments)
    return max(1, round(calls / timing.phases)), max(each.lanes for each in environments)


def training_environments(timing: Timing) -> list[Environment]:
    return [each for each in timing.environments if not each.evaluation and each.calls]


def batch(timing: Timing) -> int:
    """Rows of the largest batch that is learned from."""
    return max((each.training_rows for each in timing.networks), default=0)


def observation(timing: Timing) -> tuple[int, str]:
    """Numbers in one, and their dtype, as the acting network's first layer has it; else the learning one's."""
    for network in (actor(timing), learner(timing)):
        if network is not None and (layers := layers_of(network.shapes)):
            first = layers[0]
            return first.width, "uint8" if first.side else "float32"
    return 1, "float32"


def actor(timing: Timing) -> Network | None:
    """The largest network that acts and can be rebuilt."""
    return _largest([each for each in timing.networks if each.acting_rows])


def learner(timing: Timing, dtype: str = "") -> Network | None:
    """The largest network that learns (of this dtype) and can be rebuilt."""
    return _largest([each for each in trained(timing) if each.training_rows and dtype in ("", each.dtype)])


def trained(timing: Timing) -> list[Network]:
    return [each for each in timing.networks if each.optimizer and each.shapes]


def _largest(networks: list[Network]) -> Network | None:
    fit = [each for each in networks if each.parameters <= MOST_PARAMETERS and layers_of(each.shapes)]
    return max(fit, key=lambda each: each.parameters, default=None)
