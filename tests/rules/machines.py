"""Machines made on purpose: a sound one, and what is to be wrong with it. What is told goes to disk and back."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from rldebug import catalogue
from rldebug.diagnose import diagnose
from rldebug.evidence.machine import Driver, Gpu, Limits, Machine, Package, Torch, Trial
from rldebug.finding import Finding, Report
from rldebug.rule import Rule
from tests.judge import fires

GIB = 2**30
H200 = Gpu("NVIDIA H200", 0, "9.0", 140 * GIB, GIB, 0.0)
TORCH = Torch(
    version="2.11.0+cu130",
    cuda="13.0",
    archs=("sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120"),
    threads=16,
    sharing="file_descriptor",
    available=True,
    count=1,
    capabilities=("9.0",),
    computed=True,
)
NO_GPU = Torch(version="2.11.0+cpu", threads=16, sharing="file_descriptor")
SOUND = Machine(
    system="Linux 6.18 x86_64",
    python="3.12.3",
    executable="/opt/venv/bin/python",
    packages=(
        Package("torch", "2.11.0+cu130", "/opt/venv/lib"),
        Package("numpy", "2.4.6", "/opt/venv/lib"),
        Package("gymnasium", "1.4.0", "/opt/venv/lib"),
        Package("ale-py", "0.12.1", "/opt/venv/lib"),
        Package("mujoco", "4.0.0", "/opt/venv/lib"),
    ),
    imports={"gymnasium": "", "ale_py": ""},
    folder="/home/me/project",
    torch=TORCH,
    driver=Driver("580.159.04", "13.0", (H200,), cards=1, answers=True),
    limits=Limits(
        cores=16,
        affinity=16,
        memory=126 * GIB,
        memory_free=100 * GIB,
        shm=64 * GIB,
        shm_free=64 * GIB,
        files=20000,
        files_hard=20000,
        disk_free=60 * GIB,
        start_method="fork",
    ),
    trials=(
        Trial("torch"),
        Trial("fork", facts={"hangs": False}),
        Trial("atari"),
        Trial("pygame", facts={"shape": [400, 600, 3]}),
        Trial("mujoco"),
        Trial("mujoco as set", facts={"bright": 255}),
        Trial("mujoco egl", facts={"bright": 255}),
        Trial("mujoco glfw", facts={"bright": 255}),
    ),
)


def machine(*trials: Trial, **changes: Any) -> Machine:
    """A sound one with `changes`: of `torch`, `driver` and `limits` a dictionary of fields. `trials` replace those of
    the same name."""
    for part in ("torch", "driver", "limits"):
        if isinstance(changes.get(part), dict):
            changes[part] = dataclasses.replace(getattr(SOUND, part), **changes[part])
    kept = [each for each in SOUND.trials if each.name not in {other.name for other in trials}]
    made = dataclasses.replace(SOUND, trials=(*kept, *trials), **changes)
    return Machine.from_dict(json.loads(json.dumps(made.to_dict())))


def with_packages(**versions: str) -> dict[str, Any]:
    """Packages beside those of a sound machine; underscores stand for hyphens."""
    more = {name.replace("_", "-"): version for name, version in versions.items()}
    kept = [each for each in SOUND.packages if each.name not in more]
    return {"packages": (*kept, *(Package(name, version, "/opt/venv/lib") for name, version in more.items()))}


def examined(machine: Machine) -> Report:
    with catalogue.narrowed(frozenset({"Machine"})):
        report = diagnose([machine], command="doctor")
    assert not report.broken
    return report


def names(rule: Rule, machine: Machine) -> Finding:
    """The rule fires, and nothing else does that does not follow from it."""
    finding = fires(rule, machine)
    assert {each.code for each in examined(machine).roots} == {rule.code}
    return finding
