"""Looks at the machine: reads what can be read, and tries the rest in processes of their own."""

from __future__ import annotations

import dataclasses
import os
import platform
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from rldebug.evidence.machine import Machine, Torch, Trial
from rldebug.evidence.machines.child import Attempt, try_all
from rldebug.evidence.machines.driver import read_driver
from rldebug.evidence.machines.limits import read_limits
from rldebug.evidence.machines.packages import read_conflicts, read_hiding, read_packages
from rldebug.evidence.machines.trials import attempts

VARIABLES = (
    "CUDA_DEVICE_ORDER",
    "CUDA_LAUNCH_BLOCKING",
    "CUDA_MPS_PIPE_DIRECTORY",
    "CUDA_VISIBLE_DEVICES",
    "CUBLAS_WORKSPACE_CONFIG",
    "CONDA_PREFIX",
    "DISPLAY",
    "KMP_DUPLICATE_LIB_OK",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "MKL_NUM_THREADS",
    "MUJOCO_GL",
    "NUMEXPR_NUM_THREADS",
    "NVIDIA_TF32_OVERRIDE",
    "NVIDIA_VISIBLE_DEVICES",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "PYOPENGL_PLATFORM",
    "PYTHONDEVMODE",
    "PYTHONHASHSEED",
    "PYTHONMALLOC",
    "PYTHONPATH",
    "PYTORCH_NO_CUDA_MEMORY_CACHING",
    "SDL_VIDEODRIVER",
    "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
    "WAYLAND_DISPLAY",
)
"""Those of the environment that decide about any of this; no others are read."""

_MOST_JOBS = 8


def look(workers: int | None = None, done: Callable[[str], None] = lambda name: None) -> Machine:
    """`workers`: processes that are to be started. `done` hears what has been tried."""
    began = time.monotonic()
    folder = Path.cwd()
    packages = read_packages()
    limits = read_limits(folder)
    with ThreadPoolExecutor(1) as beside:
        asked = beside.submit(read_driver)
        jobs = min(_MOST_JOBS, max(2, int(limits.usable)))
        planned = attempts([each.name for each in packages])
        trials = try_all(planned, jobs, done)
        trials += try_all(_after_a_death(planned, trials), jobs, done)
        driver = asked.result()
    torch = _torch(trials)
    names = [*(torch.brings if torch else ()), *_from_elsewhere(trials, folder)]
    return Machine(
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        python=platform.python_version(),
        executable=sys.executable,
        packages=packages,
        conflicts=read_conflicts(packages),
        imports=_imports(trials),
        extensions=_told(trials, "extension "),
        variables={name: os.environ[name] for name in VARIABLES if name in os.environ},
        folder=str(folder),
        hiding=read_hiding(folder, names),
        torch=torch,
        driver=driver,
        limits=limits,
        trials=tuple(_brief(each) for each in trials if not each.name.startswith("imports")),
        workers=workers,
        seconds=round(time.monotonic() - began, 1),
    )


def _after_a_death(planned: Iterable[Attempt], trials: Iterable[Trial]) -> list[Attempt]:
    """Imports that were to come after one that ended the process, each in a process of its own."""
    left: list[Attempt] = []
    for attempt, trial in zip(planned, trials, strict=True):
        if trial.name.startswith("imports") and trial.stage in attempt.arguments and trial.outcome in ("died", "hung"):
            rest = attempt.arguments[attempt.arguments.index(trial.stage) + 1 :]
            left += [dataclasses.replace(attempt, name=f"imports {each}", arguments=(each,)) for each in rest]
    return left


def _imports(trials: Iterable[Trial]) -> dict[str, str]:
    trials = list(trials)
    found = _told(trials, "import ")
    for trial in trials:
        if trial.name.startswith("imports") and trial.outcome in ("died", "hung") and trial.stage not in found:
            found[trial.stage] = trial.said
    return found


def _from_elsewhere(trials: Iterable[Trial], folder: Path) -> list[str]:
    """Modules that were imported; of one that is developed in this very folder the file is no rival."""
    files = _told(trials, "file of ")
    return [name.partition(".")[0] for name, file in files.items() if folder not in Path(file).parents]


def _told(trials: Iterable[Trial], about: str) -> dict[str, str]:
    return {
        name.removeprefix(about): str(said)
        for trial in trials
        for name, said in trial.facts.items()
        if name.startswith(about)
    }


def _brief(trial: Trial) -> Trial:
    return dataclasses.replace(trial, facts={}) if trial.name == "torch" else trial  # they stand under `torch`


def _torch(trials: Iterable[Trial]) -> Torch | None:
    """As far as its process came."""
    told: dict[str, Any] = next((dict(each.facts) for each in trials if each.name == "torch"), {})
    if "version" not in told:
        return None
    known = {each.name for each in dataclasses.fields(Torch)}
    return Machine.from_dict({"torch": {name: value for name, value in told.items() if name in known}}).torch
