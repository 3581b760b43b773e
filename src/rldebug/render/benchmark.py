"""The bug benchmark in a terminal: a table for each half, what each component fares, what nobody found."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from rldebug.benchmark.ask import Answer
from rldebug.benchmark.blind import agreement
from rldebug.benchmark.corpus import HALVES, HEALTHY, Case, Corpus
from rldebug.benchmark.measure import KINDS, Measurement, faults, kind, scores, share
from rldebug.benchmark.score import UNION, Scores, Share, Verdict, by_component, score, targets
from rldebug.benchmark.shelf import RLDEBUG, means, peers
from rldebug.finding import thousands
from rldebug.render.terminal import console, count

_WIDTH = 118
_PAIRS = 12  # of components accepted for one another; the rest is counted as …


def print_benchmark(corpus: Corpus, judged: Mapping[str, Sequence[Verdict]], answers: Sequence[Answer]) -> None:
    out = _console()
    for half in HALVES:
        bugs = [each for each in corpus.bugs if each.base.half == half]
        controls = [each for each in corpus.controls if each.base.half == half]
        if not bugs and not controls:
            continue
        said = f"{half} half: {count(len(bugs), 'bug')}, {len(controls)} healthy controls"
        rows = [score(name, [each for each in every if each.case.base.half == half]) for name, every in judged.items()]
        out.print(_scores(said, rows))
    names = list(judged)
    whole = judged[UNION] if UNION in judged else judged[names[0]] if len(names) == 1 else None
    if whole is not None:
        out.print(_components(by_component(whole), UNION if UNION in judged else names[0]))
        _alarms(out, whole)
        _missed(out, whole)
    _could_not(out, answers)


def _scores(title: str, rows: Sequence[Scores]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("")
    for each in ("bugs\nseen", "detected\n", "component\nfirst", "in first\nthree", "right\ncode", "line\n± 3"):
        table.add_column(each, justify="right")
    for each in ("false\nalarms", "false\nerrors", "steps to\nfinding", "seconds\nto finding"):
        table.add_column(each, justify="right")
    for row in rows:
        shares = [row.detected, row.first, row.in_three, row.code, row.line, row.alarms, row.errors]
        steps = "—" if row.env_steps is None else thousands(round(row.env_steps))
        seconds = "—" if row.seconds is None else f"{row.seconds:.0f}"
        style = "bold" if row.means == UNION else ""
        table.add_row(row.means, str(row.asked), *(_percent(each) for each in shares), steps, seconds, style=style)
    table.caption = "shares with 95 % intervals below them; false alarms are on the healthy controls"
    table.caption_justify = "left"
    return table


def _components(shares: Mapping[str, tuple[Share, Share]], means: str) -> Table:
    table = Table(
        title=f"by component ({means})", title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False
    )
    table.add_column("")
    for each in ("bugs", "detected", "component first"):
        table.add_column(each, justify="right")
    for component, (detected, first) in shares.items():
        cells = (_percent(each).replace("\n", " ") for each in (detected, first))
        table.add_row(component, str(detected.of), *cells)
    return table


def _percent(part: Share) -> str:
    if not part.of:
        return "—"
    low, high = part.interval
    return f"{100 * part.value:.0f} %\n[dim]{100 * low:.0f}–{100 * high:.0f}[/dim]"


def _alarms(out: Console, judged: Sequence[Verdict]) -> None:
    accused = [each for each in judged if not each.case.bug and each.detected]
    if accused:
        out.print("healthy programs that were accused", style="bold")
        out.print("  " + " · ".join(f"{each.case.id} ({each.suspect})" for each in accused), soft_wrap=False)
        out.print()


def _missed(out: Console, judged: Sequence[Verdict]) -> None:
    missed = [each.case for each in judged if each.case.bug and not each.detected]
    out.print(f"found by nothing: {len(missed)} of {sum(each.case.bug for each in judged)}", style="bold")
    for base in dict.fromkeys(each.base.name for each in missed):
        out.print(f"  {base}: " + ", ".join(each.name for each in missed if each.base.name == base))
    out.print()


def _could_not(out: Console, answers: Sequence[Answer]) -> None:
    """Why questions were not answered, the most frequent reasons first."""
    groups = (("does not apply", "could not be asked"), ("failed", "gave no answer"), ("answered", "answered in part"))
    for how, said in groups:
        reasons = Counter(
            (each.means, each.could_not.splitlines()[-1]) for each in answers if each.how == how and each.could_not
        )
        if reasons:
            out.print(said, style="bold")
        for (name, reason), number in reasons.most_common(12):
            out.print(f"  {name}: {number} × {reason}")


def print_corpus(corpus: Corpus, whole: Corpus, measured: Mapping[str, Sequence[Measurement]]) -> None:
    """What there is: programs by base, by half, by kind."""
    out = _console()
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for each, widest in (("base", 22), ("half", 5), ("algorithm", 12), ("environment", 14)):
        table.add_column(each, no_wrap=True, max_width=widest)
    for each in ("bugs", *KINDS, "controls"):
        table.add_column(each, justify="right", min_width=len(each))
    for base in corpus.bases:
        bugs = [each for each in corpus.bugs if each.base.name == base.name]
        kinds = Counter(kind(each, measured) for each in bugs)
        controls = sum(each.base.name == base.name for each in corpus.controls)
        table.add_row(
            base.name, base.half[:5], base.algorithm, base.env, str(len(bugs)),
            *(str(kinds[each] or "") for each in KINDS), str(controls),
        )  # fmt: skip
    out.print(table)
    kinds = Counter(kind(each, measured) for each in corpus.bugs)
    told = ", ".join(f"{kinds[each]} {each}" for each in (*KINDS, None) if kinds[each])
    envs = len({each.env for each in corpus.bases})
    lacking = sum(bool(each.lacks) for each in corpus.controls)
    out.print(
        f"{len(corpus.bugs)} bugs ({told.replace('None', 'not measured')}) in {len(corpus.bases)} programs on {envs} "
        f"environments; {len(corpus.controls)} healthy controls, {lacking} of them short of steps or on a hard task"
    )
    same = Counter((each.components[0], other) for each in corpus.bugs for other in each.components[1:])
    told = ", ".join(f"{other} for {label} ({times})" for (label, other), times in same.most_common(_PAIRS))
    out.print(f"accepted as the same root cause, as written with each bug: {told}{' …' if len(same) > _PAIRS else ''}")
    blind = agreement(whole)
    if blind is not None:
        out.print(
            f"labels checked blind: {blind.cases} bugs named from the diff alone; {blind.accepted} of the names are "
            f"accepted, {blind.same} are the label itself"
        )
    for base in corpus.bases:
        said = [(each, faults(each, measured)) for each in _programs(corpus) if each.base.name == base.name]
        open_ = sum(not measured.get(each.program) for each, _ in said)
        if open_:
            out.print(
                f"✗ {base.name}: {open_} not measured as they are now: rldebug bench --measure {base.name}", style="red"
            )
        for case, wrong in said:
            for each in wrong if measured.get(case.program) else ():
                out.print(f"✗ {case.program}: {each}", style="red")


def print_measured(corpus: Corpus, measured: Mapping[str, Sequence[Measurement]]) -> None:
    """Each program with its scores, its kind, and what speaks against its labels."""
    out = console(wide=True)
    for base in corpus.bases:
        out.print(f"\n{base.name}: {base.title}", style="bold")
        sound = scores(measured.get(f"{base.name}/{HEALTHY}", ()), base.random)
        for case in _programs(corpus):
            if case.base.name != base.name:
                continue
            runs = measured.get(case.program, ())
            got = scores(runs, case.random)
            label = (kind(case, measured) or "?") if case.bug else f"lacks {case.lacks}" if case.lacks else "healthy"
            told = " ".join("—" if each.score is None else f"{each.score:.4g}" for each in runs)
            part = f"{share(got, sound, case.random):6.2f}" if got and sound else "     ?"
            cpu = max((each.cpu for each in runs), default=0.0)
            out.print(f"  {case.name:44s} {label:16s} {part}  {cpu:5.1f} s  {told}")
            for each in faults(case, measured):
                out.print(f"      ✗ {each}", style="red")


def print_tools(corpus: Path) -> None:
    out = _console()
    out.print("\nmeans (--means)", style="bold")
    for each in means():
        out.print(f"  {each.name:20s} {each.summary}")
    out.print("tools (--tool)", style="bold")
    for name, file in {RLDEBUG: None, **peers(corpus)}.items():
        words = "every means above" if file is None else (ast.get_docstring(ast.parse(file.read_text())) or "")
        said = words.splitlines()[0] if words else ""
        out.print(f"  {name:20s} {said}", no_wrap=True, overflow="ellipsis")


def print_targets(judged: Mapping[str, Sequence[Verdict]]) -> None:
    told = targets(judged)
    if all(met is None for _, met in told):
        return
    out = _console()
    out.print("targets, on the validation half (union: all means of rldebug together)", style="bold")
    for words, met in told:
        mark = "[dim]·[/dim]" if met is None else "[green]✓[/green]" if met else "[red]✗[/red]"
        out.print(f"  {mark} {words}")


def report_progress(done: int, of: int, result: Answer | Measurement) -> None:
    """One line for each program, on stderr."""
    if isinstance(result, Measurement):
        told = f"{result.program} seed {result.seed}: {result.status} {result.error} score {result.score}"
        seconds = result.cpu
    else:
        loud = [each for each in result.findings if each.severity != "note"]
        what = result.how if result.how != "answered" else ", ".join(each.code for each in loud) or "clean"
        told, seconds = f"{result.case} {result.means}: {what}", result.seconds
    print(f"[{done}/{of}] {told} ({seconds:.1f} s)", file=sys.stderr, flush=True)


def _programs(corpus: Corpus) -> list[Case]:
    return list({each.program: each for each in reversed(corpus.cases)}.values())[::-1]


def _console() -> Console:
    out = console()
    if not out.is_terminal:
        out.width = _WIDTH
    return out
