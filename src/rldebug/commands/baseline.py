"""rldebug baseline: what a policy that acts at random gets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rldebug.evidence.baseline import Baseline

EXAMPLES = """
rldebug baseline CartPole-v1
rldebug baseline mypkg.envs:Maze-v0 --episodes 200
rldebug baseline FrozenLake-v1 --env-arg is_slippery=False --json -
"""
PAGE = "how-to/train.md"


def baseline(
    env: Annotated[str, typer.Argument(metavar="ENV", help="A Gymnasium id, or module:Id for one of your own.")],
    episodes: Annotated[int, typer.Option(min=1, help="How many to play.")] = 50,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same numbers.")] = 0,
    env_arg: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="Handed to the environment; may be repeated.")
    ] = None,
    json: Annotated[str | None, typer.Option(metavar="FILE", help="Write the figures as JSON; - is stdout.")] = None,
) -> None:
    """Play at random, and print the return to beat.

    What a policy that acts at random gets, with an interval: training that does not beat it has learned nothing.

    Exit status: 0 played, 2 could not.
    """
    from rldebug.evidence.baseline import random_return
    from rldebug.render.json import write_data
    from rldebug.settings import literals

    found = random_return(env, env_args=literals(env_arg, "--env-arg"), episodes=episodes, seed=seed)
    if json != "-":
        _print(found, seed)
    if json is not None:
        write_data({"format": 1, "command": "baseline", "seed": seed, **found.to_dict()}, json)


def _print(found: Baseline, seed: int) -> None:
    from rich.text import Text

    from rldebug.evidence.baseline import plain
    from rldebug.finding import thousands
    from rldebug.render.terminal import console, count

    mean, low, high = found.in_words
    partial = "" if found.episodes else " so far"
    pace = thousands(int(round(found.steps / max(found.seconds, 1e-9), -2)))
    lines = (
        ("return", mean + partial, f"95 % {low} – {high}" if found.low < found.high else ""),
        ("median", plain(found.median), f"worst {plain(found.worst)} · best {plain(found.best)}"),
        ("length", plain(round(found.length_mean, 1)), "steps" + partial),
        ("speed", pace, f"steps/s ({thousands(found.steps)} in {found.seconds:.2g} s)"),
    )
    width = max(len(value) for _, value, _ in lines)
    text = Text(found.env_id, style="bold")
    text.append(f" · random policy, {count(found.episodes, 'episode')}, seed {seed}\n", style="default not bold")
    for label, value, more in lines:
        text.append(f"  {label.ljust(8)}", style="not bold dim")
        text.append(value.ljust(width), style="default")
        text.append(f"  {more}".rstrip() + "\n", style="default not bold")
    if found.note:
        text.append(f"! {found.note}\n", style="not bold yellow")
    console().print(text, end="")
