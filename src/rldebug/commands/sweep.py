"""rldebug sweep: what healthy algorithms get, over seeds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rldebug.commands.bench import Command as Command

EXAMPLES = """
rldebug sweep ppo dqn --env CartPole-v1 --seeds 5 --steps 50000
rldebug sweep --env Pendulum-v1 --seeds 3 --json bands.json
rldebug sweep ppo --env CartPole-v1 --seeds 8 --part 0/4
rldebug sweep ppo --env CartPole-v1 --seeds 8 --ray 10.0.0.7:6379
"""
PAGE = "how-to/multi-process.md"


def sweep(
    algos: Annotated[
        list[str] | None,
        typer.Argument(metavar="ALGO", help="a2c, dqn, ppo, sac, trpo, vpg; those that suit it unless given."),
    ] = None,
    env: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="A Gymnasium id, or module:id; may be repeated.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, metavar="N", help="Seeds of each.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="The first one.")] = 0,
    steps: Annotated[float, typer.Option(min=1, help="Environment steps of each run.")] = 100_000,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change a setting; may be repeated.")
    ] = None,
    episodes: Annotated[int, typer.Option(min=1, help="Episodes of each evaluation.")] = 20,
    part: Annotated[
        str | None, typer.Option(metavar="K/N", help="Only the K-th of N parts, from 0: for array jobs.")
    ] = None,
    answers: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Where results are kept, to go on from. [.rldebug/sweep]")
    ] = None,
    json: Annotated[str | None, typer.Option(metavar="FILE", help="Write the bands as JSON; - is stdout.")] = None,
    jobs: Annotated[int, typer.Option(min=1, metavar="N", help="Runs side by side.")] = 2,
    ray: Annotated[
        str | None,
        typer.Option(metavar="[ADDRESS]", help="On the Ray cluster at this address; without one, Ray is started here."),
    ] = None,
) -> None:
    """Train references, and tell the band of their returns.

    Each algorithm is trained on each environment with several seeds. What is done is kept, and not done again: a sweep
    that was stopped goes on where it was, and more seeds can be added later.

    Exit status: 0 done, 1 a task failed, 2 could not run, 130 stopped by Ctrl-C.
    """
    from rldebug.campaign.kept import Kept, complete, part_of
    from rldebug.campaign.task import Failed
    from rldebug.integrations.ray import spreading
    from rldebug.render import sweep as render
    from rldebug.render.json import write_data
    from rldebug.settings import pairs
    from rldebug.sweep import FOLDER, bands, refer, references
    from rldebug.target import TargetError

    if not env:
        raise TargetError("on which environment? For example: rldebug sweep --env CartPole-v1")
    changed = pairs(set_, "--set")
    every = references(
        algos or (), env, range(seed, seed + seeds), steps=int(steps), episodes=episodes, settings=changed
    )
    tasks = part_of(every, part)
    kept = Kept(answers or FOLDER)
    try:
        found = complete(tasks, refer, spreading(jobs, ray), kept, render.report_progress)
    except KeyboardInterrupt:
        done = sum(each.key in kept.known for each in tasks)
        typer.echo(
            f"stopped; {done} of {len(tasks)} runs are kept in {kept.folder}: the same command goes on", err=True
        )
        raise typer.Exit(130) from None
    told = [each.to_dict() for each in bands(every if part is None else tasks, found)]
    failed = {str(each): result for each in tasks if isinstance(result := found[each.key], Failed)}
    if json != "-":
        render.print_bands(told)
    render.print_failed(failed)
    if json is not None:
        write_data(
            {"format": 1, "command": "sweep", "bands": told, "failed": {n: each.reason for n, each in failed.items()}},
            json,
        )
    raise typer.Exit(1 if failed else 0)
