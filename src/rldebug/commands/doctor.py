"""rldebug doctor: what is installed here, what of it works, and what will be in the way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rldebug.config import Config

EXAMPLES = """
rldebug doctor
rldebug doctor --workers 16              # is it up to 16 processes?
rldebug doctor --json machine.json       # to send along with a bug report
"""
PAGE = "how-to/doctor.md"


def doctor(
    workers: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Processes you want to start: is the machine up to them?")
    ] = None,
    json: Annotated[str | None, typer.Option(metavar="FILE", help="Write the report as JSON; - is stdout.")] = None,
) -> None:
    """Examine the machine: what is installed, and what works.

    Versions, GPU, simulators, threads, memory and limits. What may crash is tried in processes of its own.

    Exit status: 0 clean, 1 a finding of severity warning or error, 2 could not run.
    """
    import dataclasses

    from rldebug import catalogue
    from rldebug.config import read_config
    from rldebug.diagnose import diagnose
    from rldebug.evidence.machines.look import look
    from rldebug.render.doctor import looking, print_machine
    from rldebug.render.json import write_data
    from rldebug.render.terminal import print_report

    with looking() as done:
        machine = look(workers, done)
    # The other rules bring torch along, and whether that can be imported is the question.
    with catalogue.narrowed(frozenset({"Machine"})):
        report = diagnose([machine], config=_about_machines(read_config()), command="doctor")
    report = dataclasses.replace(report, exit=0 if report.clean else 1)
    if json != "-":
        print_machine(machine)
        print_report(report, to_stdout=True)
    if json is not None:
        write_data({**report.to_dict(), "machine": machine.to_dict()}, json)
    raise typer.Exit(report.exit or 0)


def _about_machines(config: Config) -> Config:
    """What the configuration says of rules about machines; other commands tell of names that do not exist."""
    import dataclasses

    from rldebug import catalogue

    known = {name for rule in catalogue.rules() for name in (rule.code, rule.name)}

    def kept(name: str) -> bool:
        return name.upper() in known or name.lower() in known

    return dataclasses.replace(
        config,
        select=tuple(filter(kept, config.select)),
        ignore=tuple(filter(kept, config.ignore)),
        rules={name: values for name, values in config.rules.items() if kept(name)},
    )
