"""rldebug hyperparameters: the settings of a reference algorithm, and where yours differ."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

EXAMPLES = """
rldebug hyperparameters ppo
rldebug hyperparameters dqn --env CartPole-v1
rldebug hyperparameters ppo --compare train.py
"""
PAGE = "how-to/train.md"


def hyperparameters(
    algo: Annotated[str, typer.Argument(metavar="ALGO", help="a2c, dqn, ppo, sac, trpo or vpg.")],
    env: Annotated[
        str | None, typer.Option(metavar="ID", help="Those known to work on this environment, e.g. CartPole-v1.")
    ] = None,
    compare: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Your .py, .toml, .json or .yaml. A script is parsed, and never run."),
    ] = None,
    json: Annotated[str | None, typer.Option(metavar="FILE", help="Write it as JSON; - is stdout.")] = None,
) -> None:
    """Print a reference's settings, or where yours differ.

    Each setting with its reason. A script of yours is parsed, and never run.

    Exit status: 0 printed or compared, 2 could not.
    """
    from rldebug.evidence import hyperparameters as evidence
    from rldebug.render import hyperparameters as render

    algo = algo.lower()
    settings = _settings(algo, env)
    if compare is None:
        reference = evidence.reference(settings)
        if json != "-":
            render.print_settings(algo, env, reference)
        if json is not None:
            render.write_settings(algo, env, reference, json)
        return
    comparison = evidence.compare(algo, settings, compare, env)
    if json != "-":
        render.print_comparison(comparison)
    if json is not None:
        render.write_comparison(comparison, json)


def _settings(algo: str, env: str | None) -> Any:
    from rldebug.evidence.given import HyperparametersError
    from rldebug.settings import choose
    from rldebug.train import find, presets

    module = find(algo)
    if env is None:
        return module.Settings
    known = presets(algo)
    if env not in known:
        others = f"known are {', '.join(known)}" if known else "the defaults are all there is"
        raise HyperparametersError(f"no settings of {algo} are known for {env}: {others}")
    return choose(module.Settings, known[env])
