"""A probe in a script that `rldebug probe` has started: what is played there is written down, a line for each step.

The one that started the script says by an environment variable where to write, and how the probe is to look. Every
environment has a file of its own, for they may live in several processes.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
from pathlib import Path
from typing import IO, Any

from rldebug.probes.environment import ProbeEnv, Step
from rldebug.probes.probe import Probe

VARIABLE = "RLDEBUG_PROBE"

_counting = False


def told() -> dict[str, Any] | None:
    """What the one that started this process wants of its probes; None where nobody did."""
    text = os.environ.get(VARIABLE)
    return json.loads(text) if text else None


def write_down(folder: Path, *, gamma: float, obs: str | None, action: str | None) -> str:
    """The value of the variable, for a child."""
    return json.dumps({"folder": str(folder), "gamma": gamma, "obs": obs, "action": action})


class RecordedEnv(ProbeEnv):
    """Writes every step as `look action reward ended allowed`."""

    def __init__(self, probe: Probe, folder: Path, *, obs: str | None = None, action: str | None = None) -> None:
        super().__init__(probe, obs=obs, action=action, played=self._write)
        self._folder = folder
        self._file: IO[str] | None = None
        _count_updates(folder)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        # Only what is played has a number: vectors of environments make one more, to look at its spaces.
        if self._file is None:
            self.index, self._file = _new_file(self._folder)
            _count_updates(self._folder)
        return super().reset(seed=seed, options=options)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
        super().close()

    def _write(self, step: Step) -> None:
        if self._file is not None and not self._file.closed:
            line = f"{step.look} {float(step.action)!r} {float(step.reward)!r} {step.ended:d} {step.allowed:d}"
            self._file.write(line + "\n")


def read_step(line: str, env: int) -> Step:
    """What `RecordedEnv` wrote."""
    look, action, reward, ended, allowed = line.split()
    return Step(env, int(look), float(action), float(reward), ended == "1", allowed == "1")


def count_updates(folder: Path) -> int:
    """Optimizer steps, of the process that made most."""
    return max((file.stat().st_size for file in folder.glob("*.updates")), default=0)


def _new_file(folder: Path) -> tuple[int, IO[str]]:
    for index in itertools.count():
        try:
            return index, open(folder / f"{index}.steps", "x", buffering=1, encoding="utf-8")
        except FileExistsError:  # of another environment, perhaps in another process
            continue
    raise AssertionError


def _count_updates(folder: Path) -> None:
    """From now on, every optimizer step of this process is one byte in a file of its own."""
    global _counting
    if _counting or "torch" not in sys.modules:
        return
    from torch.optim.optimizer import register_optimizer_step_pre_hook

    file = os.open(folder / f"{os.getpid()}.updates", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def count(*_: Any) -> None:  # torch takes what a hook returns for new arguments: it must be None
        os.write(file, b".")

    register_optimizer_step_pre_hook(count)
    _counting = True
