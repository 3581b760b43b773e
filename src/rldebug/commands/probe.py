"""rldebug probe: an algorithm on environments with known answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rldebug.commands.bench import Command as Command

if TYPE_CHECKING:
    from rldebug.climbs import Climb

EXAMPLES = """
rldebug probe algo:ppo
rldebug probe my_agent.py:make_agent --first 5
rldebug probe algo:ppo algo:dqn sb3:PPO --climbs 3 --jobs 4
rldebug probe train.py --env-flag --env-id -- --total-timesteps 20000
"""
PAGE = "how-to/probe.md"


def probe(
    target: Annotated[
        str | None,
        typer.Argument(metavar="TARGET", help="algo:ppo, sb3:PPO, module:make_agent, file.py:make_agent, or a script."),
    ] = None,
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TARGET… | -- ARGS]", help="More targets; or of a script its own, {seed} stands for the seed."
        ),
    ] = None,
    env_flag: Annotated[
        str | None,
        typer.Option(metavar="FLAG", help="For a script: its option that takes an environment id (--env-id, env.id=)."),
    ] = None,
    probes: Annotated[str | None, typer.Option(metavar="A,B", help="Only these rungs.")] = None,
    first: Annotated[int | None, typer.Option(min=1, metavar="N", help="Only the N lowest rungs.")] = None,
    whole: Annotated[bool, typer.Option("--whole", help="Also try rungs that stand on a failed one.")] = False,
    gamma: Annotated[float | None, typer.Option(help="The discount it uses, where it does not say so.")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="At most, for a rung.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="The first one.")] = 0,
    steps: Annotated[int | None, typer.Option(min=1, help="At most, for one seed on one rung.")] = None,
    seconds: Annotated[float | None, typer.Option(help="At most, for one seed on one rung.")] = None,
    climbs: Annotated[int, typer.Option(min=1, metavar="N", help="Climb so often, each from seeds of its own.")] = 1,
    jobs: Annotated[int, typer.Option(min=1, metavar="N", help="Rungs side by side; of several climbs, those.")] = 2,
    ray: Annotated[
        str | None,
        typer.Option(metavar="[ADDRESS]", help="On the Ray cluster at this address; without one, Ray is started here."),
    ] = None,
    setting: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="A setting of the target's; may be repeated.")
    ] = None,
    defaults: Annotated[
        bool, typer.Option("--defaults", help="The target's own settings, instead of those suited to probes.")
    ] = False,
    can: Annotated[
        list[str] | None,
        typer.Option(metavar="ABILITY", help="normaliser, frames, memory, masks or vector; may be repeated."),
    ] = None,
    json: Annotated[str | None, typer.Option(metavar="FILE", help="Write the report as JSON; - is stdout.")] = None,
    page: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a page that opens offline.")] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the rungs, and stop.")] = False,
) -> None:
    """Train an algorithm on problems with known answers.

    They are tiny environments, a ladder of them: where it stops climbing tells what is broken in it.

    The last climb of each target is kept in .rldebug/probes, for `rldebug dashboard`. Several targets or climbs are a
    campaign: one that was stopped goes on with the same command.

    Exit status: 0 clean, 1 a finding of severity warning or error, 2 could not run, 130 stopped by Ctrl-C.
    """
    from rldebug.probes.shelf import probes as every_probe
    from rldebug.target import TargetError

    if list_:
        for each in every_probe():
            typer.echo(f"{each.rung:3d} {each.name:24s} {each.summary()}")
        return
    if target is None:
        raise TargetError("what is to be probed? For example algo:ppo, sb3:PPO or path/to/file.py:make_agent")
    if probes is not None and first is not None:
        raise TargetError("--probes and --first were both given: expected one of them")

    from rldebug.config import read_config
    from rldebug.evidence.ladder_file import write_ladder
    from rldebug.probe import choose, climb_ladder, report_on, stopped
    from rldebug.render.json import write_json
    from rldebug.render.ladder_page import write_page
    from rldebug.render.probe import print_ladder, progress
    from rldebug.render.terminal import console, print_report
    from rldebug.script_target import target as script
    from rldebug.settings import literals

    if env_flag is not None and (setting or defaults):
        raise TargetError("a script's settings are its own arguments: give them after --")
    names = None if probes is None else [each.strip() for each in probes.split(",") if each.strip()]
    kinds = every_probe()[:first] if first is not None else choose(names)
    config = read_config()
    if climbs > 1 or ray is not None or (env_flag is None and arguments):
        from rldebug.climbs import Climb
        from rldebug.probe_target import resolve

        if page is not None:
            raise TargetError("--page draws one climb: expected one target, without --climbs and --ray")
        more: dict[str, Any] = {
            "gamma": gamma, "probes": [each.name for each in kinds], "whole": whole, "defaults": defaults,
            "settings": literals(setting, "--setting"), "abilities": tuple(can or ()), "seeds": seeds, "steps": steps,
            "seconds": seconds,
        }  # fmt: skip
        targets = [target, *(arguments or ())] if env_flag is None else [target]
        for name in targets if env_flag is None else ():
            if name.startswith("-"):
                raise TargetError(f"{name}: only a script takes arguments, with --env-flag")
            resolve(name, settings=more["settings"], abilities=more["abilities"], defaults=defaults)  # or says why not
        own = tuple(arguments or ()) if env_flag is not None else ()
        tasks = [Climb(each, seed + seeds * k, env_flag, own, more) for each in targets for k in range(climbs)]
        raise typer.Exit(_climb_all(tasks, jobs, ray, json, config))
    shown = progress(console(stderr=True), [each.name for each in kinds])
    try:
        ladder = climb_ladder(
            target if env_flag is None else script(target, env_flag, arguments or ()),
            gamma=gamma,
            probes=[each.name for each in kinds],
            whole=whole,
            settings=literals(setting, "--setting"),
            defaults=defaults,
            abilities=can or (),
            seeds=seeds,
            steps=steps,
            seconds=seconds,
            seed=seed,
            jobs=jobs,
            progress=shown,
        )
    finally:
        shown.close()
    report = report_on(ladder, config)
    try:
        write_ladder(ladder, report)
    except OSError as error:
        console(stderr=True).print(f"the climb is not kept: {error}", style="yellow", markup=False, soft_wrap=True)
    if json != "-":
        print_ladder(console(), ladder)
        print_report(report, to_stdout=True)
    if page is not None:
        write_page(ladder, report, page)
        typer.echo(f"page: {page}", err=True)
    if json is not None:
        write_json(report, json)
    raise typer.Exit(130 if stopped(ladder) and not report.exit else report.exit or 0)


def _climb_all(tasks: list[Climb], jobs: int, ray: str | None, json: str | None, config: Any) -> int:
    """A ladder and a report for each; the exit status of the worst."""
    from rldebug.campaign.kept import Kept, complete
    from rldebug.campaign.task import Failed
    from rldebug.climbs import FOLDER, climb, ladder_of
    from rldebug.evidence.ladder_file import write_ladder
    from rldebug.integrations.ray import spreading
    from rldebug.probe import report_on
    from rldebug.render.json import write_data
    from rldebug.render.probe import print_climbs, print_ladder
    from rldebug.render.sweep import print_failed, report_progress
    from rldebug.render.terminal import console, print_report

    kept = Kept(FOLDER)
    try:
        found = complete(tasks, climb, spreading(jobs, ray), kept, report_progress)
    except KeyboardInterrupt:
        done = sum(each.key in kept.known for each in tasks)
        typer.echo(f"stopped; {done} of {len(tasks)} climbs are kept in {FOLDER}: the same command goes on", err=True)
        return 130
    failed = {str(each): result for each in tasks if isinstance(result := found[each.key], Failed)}
    ladders = {str(each): ladder_of(found[each.key]) for each in tasks if str(each) not in failed}
    reports = {name: report_on(each, config) for name, each in ladders.items()}
    for name, ladder in ladders.items():
        try:
            write_ladder(ladder, reports[name])
        except OSError as error:
            typer.echo(f"the climb is not kept: {error}", err=True)
        if json != "-":
            print_ladder(console(), ladder)
            print_report(reports[name], to_stdout=True)
    if json != "-":
        print_climbs(console(), ladders)
    print_failed(failed)
    status = max([each.exit or 0 for each in reports.values()] + [1 if failed else 0])
    if json is not None:
        told = {name: each.to_dict() for name, each in reports.items()}
        write_data({"format": 1, "command": "probe", "exit": status, "climbs": told,
                    "failed": {name: each.reason for name, each in failed.items()}}, json)  # fmt: skip
    if not failed:
        kept.forget(each.key for each in tasks)  # the next time it is asked anew: what a target imports may change
    return status
