"""What running the programs gave, kept beside them; and the kind of each bug, which follows from it.

crash     most of its seeds end with an exception, or have to be stopped
broken    it gets less than half of what a healthy run gains over acting at random
degraded  it gets more, but less than healthy runs do (one-sided Welch test, 5 %)
masked    its returns cannot be told from those of healthy runs
"""

from __future__ import annotations

import json
import math
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from rldebug.benchmark.corpus import HEALTHY, Base, Case, Corpus
from rldebug.benchmark.execute import Status, load, run_python
from rldebug.benchmark.lines import append_line, read_lines
from rldebug.benchmark.program import arguments, digest, lay_out

Kind = Literal["crash", "broken", "degraded", "masked"]
KINDS: tuple[Kind, ...] = ("crash", "broken", "degraded", "masked")
FILE = "measured.jsonl"
SEEDS = {"bug": 3, "healthy": 5, "control": 1}
_HALF = 0.5  # of the way from random to healthy
_T = {1: 6.31, 2: 2.92, 3: 2.35, 4: 2.13, 5: 2.02, 6: 1.94, 7: 1.90, 8: 1.86, 9: 1.83, 10: 1.81}  # one-sided, 5 %


@dataclass(frozen=True)
class Measurement:
    """One run of one program."""

    program: str  # base/name
    seed: int
    digest: str  # of its text: a measurement of another text does not count
    status: Status
    score: float | None
    error: str = ""  # class of the exception
    line: tuple[str, int] | None = None  # where it was raised in the program itself
    cpu: float = 0.0


def seeds_of(case: Case, wanted: int | None = None) -> range:
    kind = "bug" if case.bug else "healthy" if case.name == HEALTHY else "control"
    return range(1, 1 + (wanted or SEEDS[kind]))


def programs(corpus: Corpus, wanted: int | None = None) -> list[Case]:
    """Each program with each of the seeds it is measured with."""
    once = {each.program: each for each in reversed(corpus.cases)}
    cases = [once[each] for each in dict.fromkeys(each.program for each in corpus.cases)]
    return [replace(each, seed=seed) for each in cases for seed in seeds_of(each, wanted)]


def measure(case: Case, forked: bool = False) -> Measurement:
    forked = forked and not case.base.fresh
    if forked:
        load(case.base.needs)
    with tempfile.TemporaryDirectory(prefix="rldebug-") as made:
        folder = Path(made).resolve()
        lay_out(case, folder)
        ended = run_python(
            [case.base.entry, *arguments(case)],
            folder,
            cpu_seconds=case.base.cpu_seconds,
            forked=forked,
        )
        found = case.base.score.findall(ended.out)
        score = float(found[-1]) if found else math.nan
        return Measurement(
            case.program,
            case.seed,
            digest(case),
            ended.status if ended.status != "ended" or found else "raised",
            score if math.isfinite(score) and ended.status == "ended" else None,
            ended.error if ended.status != "ended" or found else "printed no score",
            ended.line(folder) if ended.status == "raised" else None,
            round(ended.cpu, 2),
        )


def read_measured(base: Base) -> list[Measurement]:
    found = []
    for data in read_lines(base.folder / FILE):
        data["line"] = None if data["line"] is None else tuple(data["line"])
        found.append(Measurement(**data))
    return found


def append(base: Base, measurement: Measurement) -> None:
    append_line(base.folder / FILE, asdict(measurement))


def tidy(corpus: Corpus, bases: Iterable[Base]) -> None:
    """Drop what was measured of a text that is no more, and put the rest in order. Needs the whole corpus."""
    order = {each.program: place for place, each in enumerate(corpus.cases)}
    for base in bases:
        kept = {(each.program, each.seed): each for each in current(corpus, base)}
        lines = sorted(kept.values(), key=lambda each: (order[each.program], each.seed))
        text = "".join(json.dumps(asdict(each)) + "\n" for each in lines)
        (base.folder / FILE).write_text(text, encoding="utf-8")


def current(corpus: Corpus, base: Base) -> list[Measurement]:
    """What was measured of the programs as they are now."""
    cases = {each.program: each for each in corpus.cases if each.base.name == base.name}
    return [
        each
        for each in read_measured(base)
        if each.program in cases and each.digest == digest(replace(cases[each.program], seed=each.seed))
    ]


def by_program(corpus: Corpus) -> dict[str, list[Measurement]]:
    found: dict[str, list[Measurement]] = defaultdict(list)
    for base in corpus.bases:
        for each in current(corpus, base):
            found[each.program].append(each)
    return found


def kind(case: Case, measured: Mapping[str, Sequence[Measurement]]) -> Kind | None:
    """Of a bug, from what was measured; None where it was not measured yet."""
    runs, healthy = measured.get(case.program, ()), measured.get(f"{case.base.name}/{HEALTHY}", ())
    if not runs or not healthy:
        return None
    if sum(each.status != "ended" for each in runs) * 2 > len(runs):
        return "crash"
    got, sound = scores(runs, case.random), scores(healthy, case.random)
    if share(got, sound, case.random) < _HALF:
        return "broken"
    return "degraded" if lower(got, sound) else "masked"


def scores(runs: Iterable[Measurement], nothing: float) -> list[float]:
    """A run that ended without a number counts as one that learned nothing."""
    return [nothing if each.score is None else each.score for each in runs]


def share(got: Sequence[float], sound: Sequence[float], random: float) -> float:
    """Of what a healthy run gains over acting at random, how much this one gained."""
    return (statistics.fmean(got) - random) / max(statistics.fmean(sound) - random, 1e-9)


def lower(got: Sequence[float], sound: Sequence[float]) -> bool:
    """One-sided Welch test at 5 %: whether these are from a lower mean."""
    if min(len(got), len(sound)) < 2:
        return False
    parts = [statistics.variance(each) / len(each) for each in (got, sound)]
    error = math.sqrt(sum(parts)) or 1e-12
    freedom = sum(parts) ** 2 / max(sum(p**2 / (len(s) - 1) for p, s in zip(parts, (got, sound), strict=True)), 1e-24)
    critical = _T.get(max(1, int(freedom)), 1.75)
    return (statistics.fmean(sound) - statistics.fmean(got)) / error > critical


def faults(case: Case, measured: Mapping[str, Sequence[Measurement]]) -> list[str]:
    """What the measurements say against the labels."""
    runs = measured.get(case.program, ())
    if not runs:
        return [f"not measured as it is now: rldebug bench --measure {case.program}"]
    said = []
    ended = [each for each in runs if each.status == "ended"]
    if case.bug and case.crash:
        if len(ended) * 2 >= len(runs):
            said.append(f"labelled as a crash, and {len(ended)} of {len(runs)} seeds end well")
        seen = {"hang" if each.status == "stopped" else each.error for each in runs if each.status != "ended"}
        if seen - {case.crash}:
            said.append(f"labelled {case.crash}, seen {', '.join(sorted(seen))}")
    elif len(ended) < len(runs):
        errors = sorted({each.error or each.status for each in runs if each.status != "ended"})
        if not case.bug or len(ended) * 2 < len(runs):
            said.append(f"{len(runs) - len(ended)} of {len(runs)} seeds do not end well: {', '.join(errors)}")
    if case.lacks and all(each.score is not None and each.score >= case.learned for each in runs):
        said.append(f"lacks {case.lacks}, and yet reaches {case.learned:g}")
    if not case.bug and not case.lacks:
        short = [each for each in runs if each.score is None or each.score < case.learned]
        if short:
            seeds = ", ".join(f"{each.seed}: {each.score}" for each in short)
            said.append(f"does not learn: expected at least {case.learned:g}, seed {seeds}")
    return said
