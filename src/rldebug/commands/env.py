"""rldebug env: known agents play an environment, and say what is wrong with it."""

from __future__ import annotations

from typing import Annotated

import typer

EXAMPLES = """
rldebug env CartPole-v1
rldebug env mypkg.envs:Maze --env-arg size=8
rldebug env maze.py:make_maze --steps 50000 --json report.json
rldebug env maze.py:Maze --automaton maze.py:follow_the_wall
"""
PAGE = "how-to/check-an-environment.md"


def env(
    target: Annotated[
        str,
        typer.Argument(metavar="TARGET", help="A Gymnasium id, module:Class, or path/to/file.py:Class (or function)."),
    ],
    env_arg: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="Handed to the environment; may be repeated.")
    ] = None,
    steps: Annotated[int, typer.Option(min=1, help="At most, for each player.")] = 12_000,
    seconds: Annotated[float, typer.Option(min=1, help="About so long in all, where the environment is slow.")] = 30.0,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same numbers.")] = 0,
    automaton: Annotated[
        str | None,
        typer.Option(metavar="FILE:NAME", help="A function obs -> action, or (obs, t) -> action, that plays too."),
    ] = None,
    json: Annotated[str | None, typer.Option(metavar="FILE", help="Write the report as JSON; - is stdout.")] = None,
) -> None:
    """Check an environment, by playing it with known agents.

    Its contract (what it declares beside what it emits, seeds, resets, wrappers), and what a random policy, constant
    actions, automatons, a cheat and a tabular learner get from it.

    Exit status: 0 clean, 1 a finding of severity warning or error, 2 could not run.
    """
    from rldebug.config import read_config
    from rldebug.env import check_and_play
    from rldebug.render.env import print_played
    from rldebug.render.json import write_json
    from rldebug.render.terminal import print_report
    from rldebug.settings import literals

    report, played = check_and_play(
        target,
        env_args=literals(env_arg, "--env-arg"),
        steps=steps,
        seconds=seconds,
        seed=seed,
        automaton=automaton,
        config=read_config(),
    )
    if json != "-":
        print_played(played)
        print_report(report, to_stdout=True)
    if json is not None:
        write_json(report, json)
    raise typer.Exit(report.exit or 0)
