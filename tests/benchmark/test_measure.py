from dataclasses import replace

import pytest

from rldebug.benchmark.corpus import read_corpus
from rldebug.benchmark.measure import (
    FILE,
    Measurement,
    append,
    by_program,
    digest,
    faults,
    kind,
    measure,
    programs,
    read_measured,
    tidy,
)
from tests.benchmark import tiny


@pytest.fixture
def corpus(tmp_path):
    return read_corpus(tiny.write(tmp_path))


def test_measuring_runs_each_program_with_each_of_its_seeds(corpus):
    assert [(each.program, each.seed) for each in programs(corpus)][:5] == [("quick/healthy", n) for n in range(1, 6)]
    assert len(programs(corpus)) == 5 + 3 * 3 + 2
    assert len(programs(corpus, 1)) == 6


def test_a_score_is_the_last_that_is_printed_and_an_exception_is_kept(corpus):
    cases = {each.name: each for each in corpus.cases}
    assert measure(replace(cases["never-learns"], seed=4)).score == 35.0
    raised = measure(cases["raises"])
    assert (raised.status, raised.score, raised.error) == ("raised", None, "ZeroDivisionError")
    assert raised.line == ("train.py", 16)


def test_a_program_that_prints_no_score_did_not_end_well(corpus):
    case = next(each for each in corpus.bugs if each.name == "never-learns")
    silent = replace(case.changes[0], new="    score = 30.0\n    return\n    print('episode')\n")
    found = measure(replace(case, changes=(silent, replace(silent, old='    print("episode 1 score 3.0")\n', new=""))))
    assert (found.status, found.error, found.score) == ("raised", "printed no score", None)


def put(corpus, name, scores, *, status="ended", error=""):
    case = next(each for each in corpus.cases if each.name == name)
    for seed, score in enumerate(scores, 1):
        told = digest(replace(case, seed=seed))
        append(case.base, Measurement(case.program, seed, told, status, score, error))
    return case


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([20.0, 25.0, 30.0], "broken"),
        ([80.0, 82.0, 78.0], "degraded"),
        ([99.0, 103.0, 98.0], "masked"),
        ([120.0, 130.0, 125.0], "masked"),
        ([None, 100.0, None], "broken"),
    ],
)
def test_the_kind_is_measured(corpus, scores, expected):
    put(corpus, "healthy", [100.0, 102.0, 98.0, 101.0, 99.0])
    case = put(corpus, "never-learns", scores)
    assert kind(case, by_program(corpus)) == expected


def test_a_crash_is_a_crash_on_most_seeds_and_its_name_is_checked(corpus):
    put(corpus, "healthy", [100.0] * 5)
    case = put(corpus, "raises", [None] * 3, status="raised", error="ZeroDivisionError")
    assert kind(case, by_program(corpus)) == "crash"
    assert faults(case, by_program(corpus)) == []
    assert faults(replace(case, crash="ValueError"), by_program(corpus)) == [
        "labelled ValueError, seen ZeroDivisionError"
    ]
    said = faults(replace(case, crash=""), by_program(corpus))
    assert said == ["3 of 3 seeds do not end well: ZeroDivisionError"]


def test_a_labelled_crash_that_ends_well_and_a_control_that_does_not_learn_are_faults(corpus):
    case = put(corpus, "raises", [100.0, 100.0, 100.0])
    assert faults(case, by_program(corpus)) == ["labelled as a crash, and 3 of 3 seeds end well"]
    case = put(corpus, "other-words", [95.0, 60.0])
    assert faults(case, by_program(corpus)) == ["does not learn: expected at least 90, seed 2: 60.0"]
    case = put(corpus, "too-short", [12.0, 13.0])
    assert faults(case, by_program(corpus)) == []
    assert faults(replace(case, learned=11.0), by_program(corpus)) == ["lacks budget, and yet reaches 11"]
    assert faults(corpus.bugs[2], by_program(corpus)) == [
        "not measured as it is now: rldebug bench --measure quick/gae-leaks"
    ]


def test_what_was_measured_of_another_text_does_not_count_and_is_tidied_away(corpus):
    case = put(corpus, "never-learns", [20.0, 21.0])
    append(case.base, Measurement(case.program, 3, "of another text", "ended", 500.0))
    with (case.base.folder / FILE).open("a") as file:
        file.write('{"program": "quick/never-learns", "se')  # killed while it wrote
    assert [each.score for each in by_program(corpus)[case.program]] == [20.0, 21.0]
    tidy(corpus, corpus.bases)
    assert [each.score for each in read_measured(case.base)] == [20.0, 21.0]
