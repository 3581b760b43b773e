"""How an environment keeps its contract: what it declares, what it hands out, what a seed decides. Facts, no opinions.

Collected by `rldebug.probes.examine`. Where a question was not asked, or could not be answered, a fact is None.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rldebug.finding import Where


@dataclass(frozen=True)
class Failure:
    """A call that raised."""

    call: str  # as one would write it: step(2), reset(seed=0)
    steps: int  # taken in that instance before
    kind: str  # class of the exception
    said: str  # the exception in words, with its line
    file: str | None = None  # the last line of the user's that it passed through
    line: int | None = None
    installation: bool = False  # something is not installed, or there is no screen: no fault of the environment


@dataclass(frozen=True)
class Misfit:
    """Something handed out that is not what was declared or agreed, by kind rather than by value."""

    part: str  # obs, obs['map'], terminated, reward, info, step()
    seen: str
    expected: str
    call: str  # after which: reset() or step()
    step: int  # of its episode, when first seen; 0 is the reset
    times: int
    of: int  # how often that part was looked at
    lenient: bool = False  # most programs would take it all the same


@dataclass(frozen=True)
class Outside:
    """An element of the observation that leaves the bounds of its space."""

    part: str  # obs[3]
    low: float
    high: float
    worst: float  # the value farthest out
    times: int
    of: int
    discrete: bool = False  # a number of a closed set, not of a range

    @property
    def excess(self) -> float:
        """How far out the worst is, as a share of the declared width."""
        beyond = max(self.low - self.worst, self.worst - self.high)
        width = self.high - self.low
        if 0 < width < float("inf"):
            return beyond / width
        bound = self.low if self.worst < self.low else self.high
        return beyond / max(1.0, abs(bound))

    @property
    def share(self) -> float:
        return self.times / max(self.of, 1)


@dataclass(frozen=True)
class Difference:
    """Where two trajectories that should be one part from one another."""

    step: int  # the first that differs; 0 is the reset
    part: str
    one: str
    other: str
    last: int  # the last step that differs
    of: int  # steps compared
    dynamics: bool  # rewards or ends differ too, not the observations alone
    rounding: bool = False  # it grew out of a difference in the last digits
    layer: str = ""  # the innermost environment or wrapper that shows it; empty where that is not known
    in_wrapper: bool = False  # that layer is a wrapper

    @property
    def slight(self) -> float:
        """How far apart the two numbers of the first difference are, over the larger; 1 where they are no numbers."""
        try:
            one, other = float(self.one), float(self.other)
        except ValueError:
            return 1.0
        return abs(one - other) / max(abs(one), abs(other), 1e-12)


@dataclass(frozen=True)
class Layer:
    """One environment of the stack: a wrapper, or the environment itself at the bottom."""

    name: str
    roles: frozenset[str] = frozenset()  # of ROLES: what it was seen to do
    misfit: Misfit | None = None  # its observations beside its own space
    outside: Outside | None = None
    takes_seed: bool = True  # its reset() has a parameter for it
    known: bool = False  # Gymnasium's own
    where: Where = field(default_factory=Where)


ROLES = (
    "stacks frames",
    "makes grey",
    "resizes",
    "scales observations",
    "normalises observations",
    "normalises rewards",
    "clips rewards",
    "skips frames",
    "limits time",
    "records returns",
)


@dataclass(frozen=True)
class Seeding:
    """What a seed decides. Every question is asked with the same actions."""

    steps: int  # of each trajectory, at most
    nondeterministic: bool = False  # declared so in its registration
    same_seed: Difference | None = None  # two fresh instances, same seed
    global_generator: str = ""  # the global generator that it draws from in spite of its seed
    global_difference: Difference | None = None
    played: Difference | None = None  # a fresh instance beside one that was played, same seed
    neighbour: Difference | None = None  # alone beside one that is played in turns with another instance, or after one
    shared: str = ""  # the attribute of the class by which they influence one another, where that is known
    seeds: int = 0  # how many were tried
    seeds_different: int = 0  # how many different trajectories they gave
    seed_layer: str = ""  # the wrapper below which the seed does matter
    unseeded: int = 0  # resets without a seed, in one instance
    unseeded_different: int = 0
    instances: int = 0  # fresh instances, each reset without a seed
    instances_different: int = 0


@dataclass(frozen=True)
class Ending:
    """How a finished episode of random actions ended."""

    length: int
    terminated: bool
    truncated: bool
    special: bool = False  # its last reward is outside of the range of all rewards in mid-episode


@dataclass(frozen=True)
class AfterEnd:
    """What step() does once the episode has terminated."""

    tried: int
    raised: int = 0
    went_on: int = 0  # said neither terminated nor truncated again
    rewarded: int = 0  # of those: gave a reward above 0


@dataclass(frozen=True)
class Picture:
    """What render() gave in one mode."""

    mode: str
    failure: Failure | None = None
    misfit: Misfit | None = None
    frames: int = 0
    different: int = 0
    obs_different: int = 0  # observations that changed over the same steps


@dataclass(frozen=True)
class Saturation:
    """A dimension of the action that does no more beyond a share of its declared range."""

    part: str  # action[0]
    low: float
    high: float
    share: float  # of the range, from the middle: beyond it nothing changes


@dataclass(frozen=True)
class Remark:
    """What another checker said."""

    checker: str
    kind: str  # class of the exception, or of the warning
    text: str
    raised: bool


@dataclass(frozen=True)
class EnvContract:
    """One environment, examined. `layers` from the outside to the environment itself."""

    name: str
    steps: int = 0  # played at random
    seconds: float = 0.0
    observation_space: str = ""
    action_space: str = ""
    where: Where = field(default_factory=Where)  # of the class at the bottom
    layers: tuple[Layer, ...] = ()
    same_instance: bool = False  # making it twice gave one object
    failures: tuple[Failure, ...] = ()  # of calls that the contract allows
    structure: tuple[Misfit, ...] = ()  # what reset() and step() return, as a whole
    flags: tuple[Misfit, ...] = ()
    misfits: tuple[Misfit, ...] = ()  # observations: structure, shape, kind
    outside: tuple[Outside, ...] = ()
    nonfinite: tuple[Misfit, ...] = ()
    rewards: tuple[Misfit, ...] = ()
    aliased: Misfit | None = None  # an observation that changed after it was handed out
    mutated: Misfit | None = None  # an action that step() changed
    seeding: Seeding | None = None
    endings: tuple[Ending, ...] = ()
    longest: int = 0  # of all episodes, also of one that did not end
    limit: int | None = None  # the time limit it is registered with
    clock: str | None = None  # an observation element that tells the time; empty where none does, None where unknown
    after_end: AfterEnd | None = None
    refused: tuple[Failure, ...] = ()  # allowed actions at the edge of the space that raise
    refused_of: int = 0  # how many were tried
    accepted: tuple[str, ...] = ()  # actions outside the space that had an effect of their own
    accepted_of: int = 0
    saturated: tuple[Saturation, ...] = ()
    unbounded: tuple[str, ...] = ()  # dimensions of the action without finite bounds
    pixel_levels: float | None = None  # of float images: the largest value, where all are multiples of 1 / 255²
    pictures: tuple[Picture, ...] = ()
    remarks: tuple[Remark, ...] = ()
