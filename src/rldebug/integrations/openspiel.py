"""OpenSpiel: `rldebug.attach` around a loop of its environments and PyTorch agents, which are declared as they are.

    with watch(env, agents, run="tic-tac-toe"):
        ...  # the loop, as it is

Games are seen without this too (capture/games.py); here the run also keeps which game it was, and the agents' settings.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from typing import Any

from rldebug.attach import Attached, attach

_PLAIN = (bool, int, float, str)


def watch(env: Any, agents: Any, run: str = "openspiel", **how: Any) -> Attached:
    """Watch from here on, until the end of the `with` block or `close()`.

    env      an rl_environment.Environment, or a vector_env.SyncVectorEnv of them
    agents   one of OpenSpiel's PyTorch agents, a list of them, or any agent of yours
    how      as for `rldebug.attach`: folder, select, ignore, overhead_budget, quiet
    """
    games = [_checked(each) for each in getattr(env, "envs", None) or [env]]
    playing = list(agents) if isinstance(agents, (list, tuple)) else [agents]
    dbg = attach(run, **how)
    dbg.declare(
        library="open_spiel",
        game=str(games[0].game),
        players=int(games[0].num_players),
        sees="observation" if games[0].use_observation else "information state",
        environments=len(games),
        agents=[{"class": type(each).__name__, **_settings(each)} for each in playing],
    )
    return dbg


def _checked(env: Any) -> Any:
    try:
        kind = importlib.import_module("open_spiel.python.rl_environment").Environment
    except ImportError as error:
        raise ImportError(
            f"rldebug.integrations.openspiel needs OpenSpiel, which cannot be imported here ({error}): "
            "pip install 'rldebug[openspiel]'"
        ) from error
    if not isinstance(env, kind):
        raise TypeError(
            f"watch(env, ...) got {type(env).__name__}, expected an open_spiel.python.rl_environment.Environment, or a "
            "SyncVectorEnv of them; for a pyspiel game: rl_environment.Environment(game)"
        )
    return env


def _settings(agent: Any) -> dict[str, Any]:
    """What it was made with: its agents keep their arguments; of others, plain attributes."""
    kept = vars(agent).get("_kwargs") if hasattr(agent, "__dict__") else None
    found: Mapping[str, Any] = kept if isinstance(kept, dict) else getattr(agent, "__dict__", {})
    return {name: value for name, value in found.items() if _is_plain(value) and not name.startswith("_")}


def _is_plain(value: Any) -> bool:
    if isinstance(value, Iterable) and not isinstance(value, (str, Mapping)):
        return isinstance(value, (list, tuple)) and len(value) < 16 and all(isinstance(each, _PLAIN) for each in value)
    return isinstance(value, _PLAIN)
