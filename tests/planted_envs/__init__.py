"""Environments with one planted fault each: `EXPECT` names it, `make()` has it, `sound()` is the twin without it."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).parent


def names() -> list[str]:
    return sorted(file.stem for file in FOLDER.glob("*.py") if not file.stem.startswith("_"))


def planted(name: str) -> ModuleType:
    return importlib.import_module(f"tests.planted_envs.{name}")
