"""Several climbs, of several targets or from several seeds: `rldebug probe A B C`. Each is a task of a campaign."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import rldebug
from rldebug.evidence.ladder import Ladder
from rldebug.evidence.ladder_data import from_dict, to_dict
from rldebug.probe import climb_ladder
from rldebug.script_target import target as script

FOLDER = Path(".rldebug", "climbs")


@dataclass(frozen=True)
class Climb:
    """One target on the ladder. `more`: what `climb_ladder` is given besides."""

    target: str
    seed: int
    env_flag: str | None = None  # of a script
    arguments: tuple[str, ...] = ()
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Another text of the target is another question."""
        told = json.dumps([asdict(self), rldebug.__version__, _text(self.target)], sort_keys=True, default=repr)
        return f"{self} {hashlib.sha256(told.encode()).hexdigest()[:12]}"

    def __str__(self) -> str:
        return f"{self.target} from seed {self.seed}"


def climb(task: Climb, forked: bool = False) -> dict[str, Any]:
    """The ladder, as plain data."""
    found = task.target if task.env_flag is None else script(task.target, task.env_flag, task.arguments)
    return to_dict(climb_ladder(found, seed=task.seed, jobs=1, **task.more))


def ladder_of(result: Mapping[str, Any]) -> Ladder:
    return from_dict(result)


def _text(target: str) -> str:
    file = Path(target.partition(":")[0])
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.suffix == ".py" and file.is_file() else ""
