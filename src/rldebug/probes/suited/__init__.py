"""Settings suited to probes: short rollouts, quick steps. Defaults are made for problems a thousand times larger."""

from __future__ import annotations

import importlib.resources
import sys
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def suited(target: str) -> dict[str, Any]:
    """By target, `algo:ppo` or `sb3:PPO`; empty where nothing is known of it."""
    kind, _, name = target.partition(":")
    file = importlib.resources.files(__name__).joinpath(f"{kind}.toml")
    if not file.is_file():
        return {}
    known: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8")).get(name, {})
    return known
