"""The machine a program would run on: what is installed, what it may use, what of it works. Facts, no opinions.

Collected by `rldebug.evidence.machines.look`. Where a question was not asked, or could not be answered, a fact is None.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args, get_origin, get_type_hints

FOR_OTHER_NUMPY = re.compile(
    r"compiled using NumPy 1|_ARRAY_API not found|multiarray failed to import|numpy\.(ndarray|dtype) size changed"
    r"|compiled against (ABI|API) version|Numpy is not available",
)
"""What packages say that were compiled for a NumPy of another generation."""

Outcome = Literal["ok", "error", "died", "hung"]


@dataclass(frozen=True)
class Package:
    """An installed distribution that reinforcement learning is done with, or stands on."""

    name: str
    version: str
    folder: str = ""
    hidden: tuple[str, ...] = ()  # other copies further down the path: "1.26.4 in /usr/lib/python3"


@dataclass(frozen=True)
class Conflict:
    """A requirement that an installed package declares, and that what is installed does not meet."""

    package: str
    version: str
    needs: str  # numpy<2.0,>=1.20
    other: str
    installed: str


@dataclass(frozen=True)
class Trial:
    """Something that may crash or hang, tried in a process of its own."""

    name: str
    outcome: Outcome = "ok"
    stage: str = ""  # what it was at when it ended
    said: str = ""  # the exception, or the signal, in words
    heard: str = ""  # what it printed, shortened
    seconds: float = 0.0
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        return self.outcome != "ok"

    @property
    def draws(self) -> bool:
        """It drew a picture with something in it."""
        return not self.failed and self.facts.get("bright", 0) > 0

    @property
    def ending(self) -> str:
        """How it failed: "counting the GPUs: ended by SIGSEGV"."""
        return f"{self.stage}: {self.said}" if self.stage else self.said


@dataclass(frozen=True)
class Torch:
    """What torch says of itself in a fresh process: what a program would begin with."""

    version: str = ""
    cuda: str | None = None  # that it was built for
    hip: str | None = None
    archs: tuple[str, ...] = ()  # sm_80, compute_90: what there are kernels for
    threads: int | None = None
    numpy: str = ""  # why arrays cannot be handed over; empty where they can
    sharing: str = ""  # the strategy by which processes share tensors
    cudnn: int | None = None
    deterministic: bool = False
    benchmark: bool = False  # cudnn.benchmark
    tf32: bool = False  # in matrix products
    available: bool | None = None  # torch.cuda.is_available()
    count: int | None = None
    capabilities: tuple[str, ...] = ()  # of each GPU that it sees: 9.0
    computed: bool | None = None  # whether a matrix product on the first GPU gave the right result
    mps: bool = False  # Apple's GPU
    warnings: tuple[str, ...] = ()
    brings: tuple[str, ...] = ()  # modules that were imported along with it


@dataclass(frozen=True)
class Gpu:
    """One GPU, as the driver tells."""

    name: str
    index: int = 0
    capability: str = ""
    total: int | None = None  # bytes
    used: int | None = None
    utilisation: float | None = None  # share
    mode: str = "Default"
    mig: bool = False


@dataclass(frozen=True)
class Driver:
    """NVIDIA's driver, asked through nvidia-smi."""

    version: str = ""
    cuda: str = ""  # the highest that it goes with
    gpus: tuple[Gpu, ...] = ()
    processes: tuple[str, ...] = ()  # that hold memory of a GPU: "4711 python 1 200 MiB"
    said: str = ""  # why it did not answer
    cards: int = 0  # NVIDIA's on the bus, whether there is a driver or not
    answers: bool = False


@dataclass(frozen=True)
class Limits:
    """What this process may use of the machine."""

    cores: int = 1
    affinity: int | None = None  # cores it may run on
    quota: float | None = None  # cores' worth of time that a control group grants
    memory: int | None = None  # bytes of the machine
    memory_limit: int | None = None  # of the control group
    memory_free: int | None = None
    shm: int | None = None  # bytes of /dev/shm
    shm_free: int | None = None
    files: int | None = None  # that may be open; None where there is no limit
    files_hard: int | None = None
    disk_free: int | None = None  # under the current folder
    writable: bool = True
    start_method: str = ""

    @property
    def usable(self) -> float:
        """Cores' worth of time."""
        return min(float(self.affinity or self.cores), self.quota or float("inf"))


@dataclass(frozen=True)
class Machine:
    """Everything `rldebug doctor` has found out."""

    system: str = ""
    python: str = ""
    executable: str = ""
    packages: tuple[Package, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    imports: Mapping[str, str] = field(default_factory=dict)  # package -> why it cannot be imported; empty where it can
    extensions: Mapping[str, str] = field(default_factory=dict)  # package -> why its compiled part does not load
    variables: Mapping[str, str] = field(default_factory=dict)  # of the environment, those of VARIABLES that are set
    folder: str = ""
    hiding: tuple[str, ...] = ()  # files of the current folder that hide a module
    torch: Torch | None = None
    driver: Driver = field(default_factory=Driver)
    limits: Limits = field(default_factory=Limits)
    trials: tuple[Trial, ...] = ()
    workers: int | None = None  # processes that the user wants to start
    seconds: float = 0.0

    def package(self, name: str) -> Package | None:
        return next((each for each in self.packages if each.name == name), None)

    def version(self, name: str) -> tuple[int, ...]:
        """(2, 4, 6); empty where it is not installed."""
        found = self.package(name)
        return release(found.version) if found else ()

    def trial(self, name: str) -> Trial | None:
        return next((each for each in self.trials if each.name == name), None)

    def to_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Machine:
        made: Machine = _made(Machine, data)
        return made


def release(version: str) -> tuple[int, ...]:
    """The numbers a version begins with: (2, 13, 0) of 2.13.0+cpu."""
    numbers: list[int] = []
    for part in version.partition("+")[0].split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        numbers.append(int(digits))
        if digits != part:
            break
    return tuple(numbers)


def _made(kind: Any, data: Any) -> Any:
    """Plain data as JSON gives it back, made what the annotation says."""
    if dataclasses.is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{name: _made(hints[name], value) for name, value in data.items()})  # type: ignore[operator]
    if data is None:
        return None
    options = [each for each in get_args(kind) if each is not type(None)]
    if get_origin(kind) is tuple:
        return tuple(_made(options[0], each) for each in data)
    if len(options) == 1 and dataclasses.is_dataclass(options[0]):
        return _made(options[0], data)
    return data
