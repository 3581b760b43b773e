"""rldebug transplant: a program with one of its functions replaced by the right one."""

from __future__ import annotations

from typing import Annotated

import typer

EXAMPLES = """
rldebug transplant mypkg.ppo:compute_gae gae -- train.py --seed {seed}
rldebug transplant ppo.py:gae gae --env-flag --env-id -- train.py
rldebug transplant ppo.py:Agent.gae gae -- probe ppo.py:make_agent
"""
PAGE = "how-to/verify.md"


def transplant(
    target: Annotated[
        str | None,
        typer.Argument(metavar="TARGET", help="module:function or path/to/file.py:function, also …:Class.method."),
    ] = None,
    component: Annotated[
        str | None, typer.Argument(metavar="COMPONENT", help="What it computes, as `rldebug verify --list` names it.")
    ] = None,
    program: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="-- PROGRAM ARGS",
            help="train.py and its arguments, -m module, or probe file.py:make_agent; {seed} stands for the seed.",
        ),
    ] = None,
    env_flag: Annotated[
        str | None,
        typer.Option(
            metavar="FLAG", help="The program's option that takes an environment id: it climbs the ladder of probes."
        ),
    ] = None,
    probes: Annotated[str | None, typer.Option(metavar="A,B", help="With --env-flag: only these rungs.")] = None,
    first: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="With --env-flag: only the N lowest rungs.")
    ] = None,
    gamma: Annotated[float | None, typer.Option(help="With --env-flag: the discount the program uses.")] = None,
    map_: Annotated[
        list[str] | None,
        typer.Option("--map", metavar="WHAT=ARGUMENT", help="What an argument is: reward=r; may be repeated."),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Runs before and after; with --env-flag, at most, for a rung.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The first one.")] = 0,
    steps: Annotated[
        int | None, typer.Option(min=1, help="With --env-flag: at most, for one seed on one rung.")
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="For one run, 600 if not given; with --env-flag, for a seed on a rung."),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, metavar="N", help="With --env-flag: rungs side by side.")] = 2,
    json: Annotated[str | None, typer.Option(metavar="FILE", help="Write the report as JSON; - is stdout.")] = None,
) -> None:
    """Replace one function of a program by the right one.

    The program runs as it is, and with that function replaced: does the symptom go away?

    A symptom is a probe that fails (with --env-flag), a finding in a run that rldebug.watch records, or a crash.

    Exit status: 0 the function is right, 1 it is wrong, 2 could not run.
    """
    from rldebug.target import TargetError

    if target is None or component is None or not program:
        raise TargetError(
            "what is to be replaced, by what, and in which program? For example: "
            "rldebug transplant mypkg.ppo:compute_gae gae -- train.py --seed 1"
        )
    if probes is not None and first is not None:
        raise TargetError("--probes and --first were both given: expected one of them")
    if env_flag is None and (probes or first or gamma is not None or steps):
        raise TargetError("--probes, --first, --gamma and --steps are for a program on probes: expected --env-flag too")

    from rldebug.config import read_config
    from rldebug.probes.shelf import probes as every_probe
    from rldebug.render.json import write_json
    from rldebug.render.terminal import print_report
    from rldebug.render.transplant import print_transplant
    from rldebug.transplant import in_order, report_on
    from rldebug.transplant import transplant as run
    from rldebug.verify import mapping

    named = None if probes is None else [each.strip() for each in probes.split(",") if each.strip()]
    if first is not None:
        named = [each.name for each in every_probe()[:first]]
    config = read_config()
    target, component = in_order(target, component)
    done = run(
        target,
        component,
        program,
        map=mapping(map_ or ()),
        env_flag=env_flag,
        probes=named,
        gamma=gamma,
        seeds=seeds,
        seed=seed,
        steps=steps,
        seconds=timeout,
        jobs=jobs,
        config=config,
        progress=lambda said: typer.echo(said, err=True),
    )
    report = report_on(done, config)
    if json != "-":
        print_report(report, to_stdout=True)
        print_transplant(done)
    if json is not None:
        write_json(report, json)
    raise typer.Exit(report.exit or 0)
