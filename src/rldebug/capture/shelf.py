"""The shelf of hooks: which files install themselves, in order. Each group can be switched off alone."""

from __future__ import annotations

import importlib
import traceback
from typing import Any

FILES = {
    "environments": "environments",
    "vec_environments": "environments",
    "games": "environments",
    "dm_environments": "environments",
    "envpool": "environments",
    "turns": "environments",
    "tensordict_environments": "environments",
    "indexed_environments": "environments",
    "hand_rolled": "environments",
    "worlds": "environments",
    "normalised": "networks",
    "normalisers": "networks",
    "distributions": "distributions",
    "backward": "backward",
    "graphs": "graphs",
    "within_reach": "backward",
    "stepping": "optimizers",
    "scalars": "optimizers",
    "copies": "copies",
    "checkpoints": "checkpoints",
    "seeds": "seeds",
    "threads": "threads",
    "collectives": "collectives",
    "logged": "logging",
    "arguments": "arguments",
    "warned": "warnings",
}
"""Module of this package -> the group it belongs to."""


def install_all(session: Any) -> None:
    """A file that cannot be installed is listed; the others are."""
    for name, group in FILES.items():
        if group in session.switch.off:
            continue
        try:
            module = importlib.import_module(f"rldebug.capture.{name}")
            if group == "environments":
                module.install(session.switch, session.told)
            else:
                module.install(session)
        except Exception:
            session.switch.broken[f"capture/{name}"] = traceback.format_exc()
