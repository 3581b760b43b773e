"""rldebug export: a recorded run for TensorBoard, Weights & Biases or MLflow."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rldebug.commands.completion import runs as completed

if TYPE_CHECKING:
    from rldebug.evidence.tags import Convention
    from rldebug.render.exported import Viewer

EXAMPLES = """
rldebug export --tensorboard logs        # the newest run
rldebug export ppo --tensorboard logs --tags sb3 --follow
rldebug export ppo --wandb my-project
rldebug export ppo --mlflow my-experiment
"""
PAGE = "how-to/tensorboard.md"


def export(
    run: Annotated[
        str | None,
        typer.Argument(
            metavar="RUN",
            help="A run folder, or a name under .rldebug/runs; the newest if left out.",
            autocompletion=completed,
        ),
    ] = None,
    tensorboard: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write event files there, in a folder named as the run.")
    ] = None,
    wandb: Annotated[
        str | None, typer.Option(metavar="PROJECT", help="Log to Weights & Biases; offline, unless you are logged in.")
    ] = None,
    mlflow: Annotated[
        str | None, typer.Option(metavar="EXPERIMENT", help="Log to MLflow, where MLFLOW_TRACKING_URI says.")
    ] = None,
    tags: Annotated[
        str, typer.Option(metavar="cleanrl|sb3", help="Whose tags to write beside our own names.")
    ] = "cleanrl",
    follow: Annotated[bool, typer.Option("--follow", help="Go on until the run ends, or Ctrl-C.")] = False,
    until: Annotated[Path | None, typer.Option(hidden=True)] = None,
) -> None:
    """Write a recorded run for TensorBoard, W&B or MLflow.

    All readings, smoothed twins, histograms, and the diagnosis as text.

    Exit status: 0 written, 2 could not.
    """
    from rldebug.evidence.folder import find_run, title_of
    from rldebug.render.exported import ExportError, need, write_run

    asked = {"tensorboard": tensorboard, "wandb": wandb, "mlflow": mlflow}
    wanted = [name for name, each in asked.items() if each is not None]
    if not wanted:
        raise ExportError("expected where to write to: --tensorboard DIR, --wandb PROJECT or --mlflow EXPERIMENT")
    if tags not in ("cleanrl", "sb3"):
        raise ExportError(f"--tags is {tags!r}, expected cleanrl or sb3")
    convention: Convention = "sb3" if tags == "sb3" else "cleanrl"
    for each in wanted:
        need(each)
    folder = find_run(run)
    opened: list[Viewer] = []

    def open_viewers(name: str) -> Sequence[Viewer]:
        opened.extend(_viewers(name, tensorboard, wandb, mlflow))
        return opened

    if until is not None and hasattr(os, "nice"):
        os.nice(10)  # beside a program that trains
    if follow:
        from rldebug.render.growing import follow as follow_run

        written = follow_run(folder, open_viewers, convention, until)
    else:
        from rldebug.config import read_config
        from rldebug.evidence.folder import open_run
        from rldebug.recorded import examine, recorded

        seen = recorded(folder)
        if not seen.run.readings:
            open_run(run)  # says why there is nothing in it
        report = examine(seen, read_config(), "report")
        written = len(seen.run.readings)
        for viewer in open_viewers(title_of(seen.run)):
            write_run(seen.run, report, viewer, convention)
    for viewer in opened:
        typer.echo(f"{written} readings: {viewer.where}")


def _viewers(name: str, tensorboard: Path | None, wandb: str | None, mlflow: str | None) -> list[Viewer]:
    viewers: list[Viewer] = []
    if tensorboard is not None:
        from rldebug.render.tensorboard import TensorBoard

        viewers.append(TensorBoard(tensorboard, name))
    if wandb is not None:
        from rldebug.render.wandb import WeightsAndBiases

        viewers.append(WeightsAndBiases(wandb, name))
    if mlflow is not None:
        from rldebug.render.mlflow import MLflow

        viewers.append(MLflow(mlflow, name))
    return viewers
