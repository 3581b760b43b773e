"""rldebug bench: programs with one bug each and programs with none, and what is found in them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

EXAMPLES = """
rldebug bench --list                  # the programs, and whom to ask
rldebug bench --quick                 # a tenth of them
rldebug bench 'ppo_*' --means run
rldebug bench --jobs 8 --ray 10.0.0.7:6379
"""
PAGE = "coverage.md"


class Command(TyperCommand):
    """`--ray` may come without an address, which Typer has no words for."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        for place, each in enumerate(args):
            if each == "--":
                break
            if each == "--ray" and (place + 1 == len(args) or args[place + 1].startswith("-")):
                return super().parse_args(ctx, [*args[: place + 1], "local", *args[place + 1 :]])
        return super().parse_args(ctx, args)


def bench(
    cases: Annotated[
        list[str] | None, typer.Argument(metavar="CASE", help="Only these: base, base/name, or a pattern.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A tenth of the programs, in minutes.")] = False,
    means: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this means of rldebug; may be repeated.")
    ] = None,
    tool: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Another tool, or rldebug; may be repeated.")
    ] = None,
    half: Annotated[
        str | None, typer.Option(metavar="HALF", help="Only the development or the validation half.")
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the programs, and whom to ask, and stop.")] = False,
    measure: Annotated[
        bool, typer.Option("--measure", help="Run the programs themselves, and keep their scores beside them.")
    ] = False,
    seeds: Annotated[int | None, typer.Option(min=1, metavar="N", help="With --measure: for each program.")] = None,
    bars: Annotated[bool, typer.Option("--bars", help="Exit with 1 where a target is missed.")] = False,
    matrix: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the confusion matrix (of all means together) as SVG.")
    ] = None,
    json: Annotated[str | None, typer.Option(metavar="FILE", help="Write every verdict as JSON; - is stdout.")] = None,
    corpus: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the programs are.")] = Path("bench/bugs/corpus"),
    answers: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where answers are kept, to go on from. [.rldebug/bench]")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, metavar="N", help="Programs side by side.")] = 2,
    ray: Annotated[
        str | None,
        typer.Option(metavar="[ADDRESS]", help="On the Ray cluster at this address; without one, Ray is started here."),
    ] = None,
) -> None:
    """Count planted bugs that are found, and false alarms.

    Every means of rldebug is asked about programs with one mistake each, and about healthy ones, as a user would ask:
    how many bugs are found and named, and how many healthy programs are accused.

    Exit status: 0 done, 1 a target is missed (with --bars) or a label contradicted (with --measure), 2 could not run.
    """
    from rldebug.benchmark.ask import Answers
    from rldebug.benchmark.choose import tenth
    from rldebug.benchmark.corpus import CorpusError, read_corpus
    from rldebug.benchmark.measure import by_program, faults, tidy
    from rldebug.benchmark.questions import answer_all, default_answers, measure_all, questions
    from rldebug.benchmark.score import UNION, as_data, confusion, targets, verdicts
    from rldebug.benchmark.shelf import RLDEBUG
    from rldebug.integrations.ray import spreading
    from rldebug.render import benchmark as render
    from rldebug.render.json import write_data
    from rldebug.render.matrix import matrix as draw

    whole = read_corpus(corpus)
    chosen = whole.only(cases or (), half)
    chosen = tenth(chosen) if quick else chosen
    spread = spreading(jobs, ray)
    if list_:
        render.print_tools(corpus)
        render.print_corpus(chosen, whole, by_program(chosen))
        if cases:
            render.print_measured(chosen, by_program(chosen))
        return
    if measure:
        try:
            measured = measure_all(chosen, seeds, spread, render.report_progress)
        except KeyboardInterrupt:
            typer.echo("stopped; what was measured is kept beside the programs: the same command goes on", err=True)
            raise typer.Exit(130) from None
        tidy(whole, chosen.bases)
        render.print_measured(chosen, measured)
        raise typer.Exit(1 if any(faults(each, measured) for each in chosen.cases) else 0)
    for file in (matrix, None if json in (None, "-") else Path(str(json))):
        if file is not None and not file.parent.is_dir():
            raise CorpusError(f"{file}: there is no folder {file.parent}")
    tools = [*(tool or [RLDEBUG]), *([RLDEBUG] if means and tool and RLDEBUG not in tool else [])]
    asked = questions(chosen, tools, means or (), whole=whole)
    kept = Answers(answers or default_answers(corpus))
    try:
        found = answer_all(asked, kept, spread, render.report_progress)
    except KeyboardInterrupt:
        typer.echo(
            f"stopped; {len(kept.to(asked))} of {len(asked)} answers are kept in {kept.file}: the same goes on",
            err=True,
        )
        raise typer.Exit(130) from None
    judged = verdicts(chosen.cases, found)
    if json != "-":
        render.print_benchmark(chosen, judged, found)
        render.print_targets(judged)
    if matrix is not None:
        name = UNION if UNION in judged else next(iter(judged))
        matrix.write_text(draw(confusion(judged[name]), f"{name}, {len(chosen.bugs)} planted"), encoding="utf-8")
        typer.echo(f"picture: {matrix}", err=True)
    if json is not None:
        write_data(as_data(judged), json)
    missed = any(met is False for _, met in targets(judged))
    raise typer.Exit(1 if bars and missed else 0)
