"""How an environment of several agents keeps its contract: who is there, what each is given, who leaves. Facts only.

Collected by `rldebug.probes.examine_agents`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rldebug.evidence.env_contract import Misfit
from rldebug.finding import Where


@dataclass(frozen=True)
class Left:
    """An agent, and the step of its episode at which it was there or gone against what was said."""

    agent: str
    step: int
    said: str  # what the flags said of it
    times: int = 1
    of: int = 1  # agents that ended, or that left


@dataclass(frozen=True)
class AgentContract:
    """One environment, played at random by all its agents."""

    name: str
    agents: tuple[str, ...] = ()  # all that may ever take part
    steps: int = 0
    episodes: int = 0  # that ended for all
    where: Where = field(default_factory=Where)
    absent: tuple[Misfit, ...] = ()  # a dict without somebody who is there; `part` is the dict
    unsaid: Left | None = None  # no longer among `agents`, though neither flag was set
    stayed: Left | None = None  # still among `agents`, though a flag was set
    revived: Left | None = None  # there again in the same episode
    unknown: tuple[str, ...] = ()  # among `agents`, not among `possible_agents`
    possible: tuple[int, int] | None = None  # how many possible_agents there were, and how many later
    spaces: tuple[Misfit, ...] = ()  # asked twice, a space was another one; `lenient` where the two are equal
    one_array: tuple[str, str] | None = None  # two agents that were handed the same memory at every step
