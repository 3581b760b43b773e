"""rldebug train: a reference algorithm on an environment."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

EXAMPLES = """
rldebug train ppo --env CartPole-v1 --steps 50000
rldebug train dqn --env CartPole-v1 --set lr=1e-3 --record
rldebug train --resume .rldebug/train/ppo-CartPole-v1-0 ppo --steps 2e5
"""
PAGE = "how-to/train.md"


def train(
    algo: Annotated[str, typer.Argument(metavar="ALGO", help="a2c, dqn, ppo, sac, trpo or vpg.")],
    env: Annotated[
        str | None, typer.Option(metavar="ID", help="A Gymnasium id, or module:id for one of yours.")
    ] = None,
    steps: Annotated[float | None, typer.Option(help="Environment steps in all; 100 000 unless given.")] = None,
    seed: Annotated[int, typer.Option(help="Everything random follows from it.")] = 0,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="Change a setting, such as lr=1e-3 or hidden=64,64; repeatable."
        ),
    ] = None,
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="Settings from a TOML file.")] = None,
    checkpoint_every: Annotated[
        int, typer.Option(metavar="N", help="Save every N iterations; 0: at the end only.")
    ] = 100,
    resume: Annotated[Path | None, typer.Option(metavar="DIR", help="Go on with the run in this folder.")] = None,
    record: Annotated[bool, typer.Option("--record", help="Watch the run with rldebug, and diagnose it.")] = False,
    frames: Annotated[
        int, typer.Option(metavar="N", help="Keep every N-th preprocessed frame as a picture in the run's folder.")
    ] = 0,
    processes: Annotated[int, typer.Option(metavar="N", help="Train in N processes; vpg only.")] = 1,
    device: Annotated[str, typer.Option(help="cpu, cuda or cuda:1.")] = "cpu",
    threads: Annotated[int, typer.Option(help="torch's threads; one is fastest for small networks.")] = 1,
    env_arg: Annotated[
        list[str] | None, typer.Option("--env-arg", metavar="NAME=VALUE", help="Passed to gymnasium.make.")
    ] = None,
    folder: Annotated[Path | None, typer.Option(metavar="DIR", help="Where to keep the run.")] = None,
    episodes: Annotated[int, typer.Option(help="Episodes of the evaluation at the end.")] = 10,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
    json: Annotated[str | None, typer.Option(metavar="FILE", help="Write the summary as JSON; - is stdout.")] = None,
) -> None:
    """Train a reference algorithm.

    One file each, to hold your own code against: a2c, dqn, ppo, sac, trpo, vpg.

    The run is kept in .rldebug/train: checkpoints, and a line of numbers per iteration. Ctrl-C saves, and --resume goes
    on as if nothing had happened, to the bit.

    Exit status: 0 trained, 1 --record made a finding of severity warning or error, 2 could not run, 130 interrupted.
    """
    # Before torch and numpy are imported: later, their thread pools have their size.
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, str(threads))

    import torch

    from rldebug.parts.distributed import LOST, RankLost, launch
    from rldebug.render.json import write_data
    from rldebug.settings import literals, pairs, read_toml
    from rldebug.train import many_processes
    from rldebug.train import train as run
    from rldebug.training import new_folder

    torch.set_num_threads(threads)
    folder = folder or resume or (new_folder(algo, env, seed) if env else None)
    if processes > 1 and "RANK" not in os.environ and many_processes(algo):
        raise typer.Exit(launch([*sys.argv[1:], "--folder", str(folder)], processes))
    try:
        trained = run(
            algo,
            env,
            steps=None if steps is None else int(steps),
            seed=seed,
            settings={**(read_toml(config, algo) if config else {}), **pairs(set_, "--set")},
            env_args=literals(env_arg, "--env-arg"),
            device=device,
            folder=folder,
            resume=resume,
            checkpoint_every=checkpoint_every,
            record=record,
            frames=frames,
            episodes=episodes,
            quiet=quiet,
        )
    except RankLost as lost:  # said by every process that is left; the status tells `launch` that it was not the cause
        typer.echo(f"rldebug: {lost}", err=True)
        raise typer.Exit(LOST) from lost
    if json is not None:
        write_data(trained.summary.to_dict(), json)
    raise typer.Exit(130 if trained.summary.interrupted else 1 if trained.summary.clean is False else 0)
