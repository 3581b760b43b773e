"""rldebug report: the diagnosis of a recorded run."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rldebug.commands.completion import rules, runs

if TYPE_CHECKING:
    from rldebug.evidence.run import Run

EXAMPLES = """
rldebug report                           # the newest run
rldebug report ppo --html report.html --with ppo-2
rldebug report ppo --skipped             # what could not be checked
rldebug report --from-tensorboard logs/ppo
"""
PAGE = "how-to/read-a-report.md"


def report(
    run: Annotated[
        str | None,
        typer.Argument(
            metavar="RUN",
            help="A run folder, or a name under .rldebug/runs; the newest if left out.",
            autocompletion=runs,
        ),
    ] = None,
    from_tensorboard: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Diagnose a TensorBoard log instead of a recorded run.")
    ] = None,
    from_wandb_offline: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Diagnose an offline run of Weights & Biases: wandb/offline-run-…"),
    ] = None,
    from_sb3_csv: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Diagnose progress.csv or monitor.csv, or a table like them.")
    ] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a page that opens offline.")] = None,
    beside: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="RUN",
            help="Draw this run over it on the page; may be repeated.",
            autocompletion=runs,
        ),
    ] = None,
    skipped: Annotated[bool, typer.Option("--skipped", help="List the rules that could not run, and why.")] = False,
    json: Annotated[str | None, typer.Option(metavar="FILE", help="Write the report as JSON; - is stdout.")] = None,
    select: Annotated[
        list[str] | None,
        typer.Option(metavar="CODE", help="Only this rule; may be repeated.", autocompletion=rules),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(metavar="CODE", help="Not this rule; may be repeated.", autocompletion=rules),
    ] = None,
) -> None:
    """Diagnose a recorded run, or a log of one.

    Runs are recorded by rldebug run, profile, watch and attach; also one that was killed, or still goes on. With
    --from-…, diagnose a run that was never watched, from the log it left.

    Exit status: 0 clean, 1 a finding of severity warning or error, 2 could not run.
    """
    from rldebug.catalogue import find
    from rldebug.config import asked_for, read_config
    from rldebug.evidence.folder import find_run, open_run
    from rldebug.evidence.foreign.reasons import in_a_log, in_short
    from rldebug.evidence.run import RunError
    from rldebug.recorded import Recorded, as_shown, examine, recorded
    from rldebug.render.json import write_json
    from rldebug.render.terminal import print_report
    from rldebug.timed import write_pages

    if beside and html is None:
        raise RunError("--with draws another run on the page: name its file with --html")
    log = _log(run, from_tensorboard, from_wandb_offline, from_sb3_csv)
    seen = recorded(find_run(run)) if log is None else Recorded(log, None, None, ())
    if not seen.evidences:
        open_run(run)  # says why there is nothing in it
    if seen.empty:
        nothing = "no step of an environment or an optimizer was seen: there is nothing to check"
        raise RunError("; ".join((nothing, *seen.problems)))
    found = examine(seen, asked_for(read_config(), select or (), ignore or ()), "report")
    if log is not None:
        found = dataclasses.replace(found, skipped=in_a_log(found.skipped))
    found = dataclasses.replace(found, exit=0 if found.clean else 1)
    if seen.timing is not None and json != "-":
        from rldebug.render.profile import print_profile

        print_profile(seen.timing, found, file=sys.stdout)
    if json != "-":
        shown = as_shown(found)
        print_report(dataclasses.replace(shown, skipped=in_short(shown.skipped)), run=seen.run, to_stdout=True)
    if skipped and json != "-":
        for code, reason in found.skipped.items():
            typer.echo(f"{code} {find(code).name}: {reason}")
        for name in () if log is None else log.meta["log"]["unknown"]:
            typer.echo(f"not known: {name}")
    if html is not None:
        others = [recorded(find_run(each)) for each in beside or ()]
        for page in write_pages(found, seen, html, others):
            typer.echo(f"page: {page}", err=True)
    if json is not None:
        write_json(found, json)
    raise typer.Exit(found.exit or 0)


def _log(run: str | None, tensorboard: Path | None, wandb: Path | None, csv: Path | None) -> Run | None:
    """The run that one of these logs tells of; None where a recorded run is meant."""
    from rldebug.evidence.foreign.arrange import run_of
    from rldebug.evidence.foreign.csv_file import read_csv
    from rldebug.evidence.foreign.tensorboard import read_tensorboard
    from rldebug.evidence.foreign.wandb_offline import read_wandb
    from rldebug.evidence.run import RunError

    ways = ((tensorboard, read_tensorboard), (wandb, read_wandb), (csv, read_csv))
    asked = [(where, read) for where, read in ways if where is not None]
    if len(asked) + (run is not None) > 1:
        given = "a recorded run and a log" if run is not None else "several logs"
        raise RunError(f"{given} were named: expected either RUN or one of the options --from-…")
    return next((run_of(read(where)) for where, read in asked), None)
