"""The benchmark itself: which questions there are, and putting them, however many workers there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rldebug.benchmark.ask import Answer, Answers, Question, ask
from rldebug.benchmark.corpus import HEALTHY, Case, Corpus
from rldebug.benchmark.measure import (
    Measurement,
    append,
    by_program,
    measure,
    programs,
    read_measured,
)
from rldebug.benchmark.program import digest
from rldebug.benchmark.shelf import RLDEBUG, find, find_peer, means
from rldebug.campaign.task import Failed, Spread


def questions(
    corpus: Corpus, tools: Sequence[str] = (RLDEBUG,), only: Sequence[str] = (), *, whole: Corpus | None = None
) -> list[Question]:
    """Every program of the corpus, to every means and peer that was named. `whole`: where healthy scores are found."""
    asked = [find(each) for each in only] if only else means()
    measured = by_program(whole or corpus) if set(tools) - {RLDEBUG} else {}
    found = []
    for tool in tools:
        if tool == RLDEBUG:
            found += [Question(case, RLDEBUG, each.name) for case in corpus.cases for each in asked]
        else:
            script = find_peer(corpus.folder, tool)
            found += [Question(case, tool, tool, script, _scores(case, measured)) for case in corpus.cases]
    return found


def answer_all(
    asked: Sequence[Question], answers: Answers, spread: Spread, progress: Callable[[int, int, Answer], None]
) -> list[Answer]:
    """The answers to all of them; what is known already is not asked again."""
    kept = answers.file.absolute().parent / "recordings"
    left = [replace(each, kept=kept) for each in answers.open(asked)]
    for done, (question, answer) in enumerate(spread(ask, left), 1):
        if isinstance(answer, Failed):  # not kept: it is asked again with the next benchmark
            key, case = question.key, question.case.id
            answer = Answer(key[0], key[1], key[2], key[3], could_not=answer.reason, how="failed", case=case)
            answers.known[answer.key] = answer
        else:
            answers.add(answer)
        progress(done, len(left), answer)
    return answers.to(asked)


def measure_all(
    corpus: Corpus, seeds: int | None, spread: Spread, progress: Callable[[int, int, Measurement], None]
) -> Mapping[str, Sequence[Measurement]]:
    """Runs every program that was not run yet as it is now, and keeps the score beside it."""
    known = {(each.program, each.seed, each.digest) for base in corpus.bases for each in read_measured(base)}
    left = [
        each
        for each in programs(corpus, seeds)
        if (each.program, each.seed, digest(each)) not in known and not each.base.missing()
    ]
    for done, (case, result) in enumerate(spread(measure, left), 1):
        if isinstance(result, Failed):  # not kept: it is run again the next time
            result = Measurement(case.program, case.seed, digest(case), "stopped", None, result.reason)
        else:
            append(case.base, result)
        progress(done, len(left), result)
    return by_program(corpus)


def default_answers(corpus: Path) -> Path:
    """Beside the runs of the folder that the command is called in."""
    return Path(".rldebug", "bench", f"{corpus.resolve().parent.name}.jsonl")


def _scores(case: Case, measured: Mapping[str, Sequence[Measurement]]) -> dict[str, Any]:
    """What a peer that looks at returns is told. A healthy control is one seed, compared with the others."""
    runs, healthy = measured.get(case.program, ()), measured.get(f"{case.base.name}/{HEALTHY}", ())
    if case.name == HEALTHY:
        runs = [each for each in runs if each.seed == case.seed]
        healthy = [each for each in healthy if each.seed != case.seed]
    return {
        "healthy": [each.score for each in healthy],
        "this": [each.score for each in runs],
        "random": case.random,
    }
