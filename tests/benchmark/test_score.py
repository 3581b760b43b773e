from dataclasses import replace

import pytest

from rldebug.benchmark.ask import Answer, Found, together
from rldebug.benchmark.corpus import read_corpus
from rldebug.benchmark.score import (
    NO_COMPONENT,
    UNION,
    Share,
    as_data,
    by_component,
    confusion,
    judge,
    score,
    targets,
    verdicts,
)
from tests.benchmark import tiny


@pytest.fixture
def cases(tmp_path):
    return {each.id: each for each in read_corpus(tiny.write(tmp_path)).cases}


def answer(case, *findings, means="verify", suspects=None, how="answered", seconds=2.0):
    accused = suspects or tuple((each.component, 0.9) for each in findings if each.severity != "note")
    return Answer("rldebug", means, "p", "v", findings, accused, how=how, seconds=seconds, case=case.id)


BUG = "quick/never-learns"  # environment, or buffer; ENV001; line 16 of train.py


def test_a_finding_of_the_right_component_code_and_line(cases):
    found = Found("environment", "error", "ENV001", "train.py", 18, 700)
    judged = judge(cases[BUG], [answer(cases[BUG], found)])
    assert (judged.detected, judged.first, judged.in_three, judged.code, judged.line) == (True,) * 5
    assert (judged.env_step, judged.seconds, judged.suspect) == (700, 2.0, "environment")


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (Found("buffer", "warning", "BUF001", "train.py", 20), (True, True, True, False, False)),
        (Found("network", "warning", "ENV001", "other.py", 16), (True, False, False, True, False)),
        (Found("environment", "note", "ENV001", "train.py", 16), (False, False, False, False, False)),
    ],
)
def test_what_counts(cases, found, expected):
    judged = judge(cases[BUG], [answer(cases[BUG], found)])
    assert (judged.detected, judged.first, judged.in_three, judged.code, judged.line) == expected


def test_the_right_component_among_the_first_three(cases):
    names = ("network", "entropy", "buffer", "optimizer")
    accused = tuple((each, 0.9 - 0.1 * place) for place, each in enumerate(names))
    one = answer(cases[BUG], Found("network", "error"), suspects=accused)
    assert (judge(cases[BUG], [one]).first, judge(cases[BUG], [one]).in_three) == (False, True)
    late = replace(one, suspects=(("entropy", 0.95), ("optimizer", 0.94), *accused))
    assert not judge(cases[BUG], [late]).in_three


def test_a_bug_without_a_code_in_the_catalogue_is_not_scored_for_it(cases):
    case = cases["quick/raises"]
    assert judge(case, [answer(case)]).code is None
    assert score("verify", [judge(case, [answer(case)])]).code == Share(0, 0)


def test_means_are_scored_by_themselves_and_together(cases):
    other = cases["quick/raises"]
    answers = [
        answer(cases[BUG], Found("environment", "error")),
        answer(cases[BUG], means="probe"),
        answer(other, means="verify", how="does not apply"),
        answer(other, Found("network", "warning"), means="probe"),
        answer(cases["quick/healthy@1"], means="verify"),
        answer(cases["quick/healthy@2"], Found("entropy", "warning"), means="probe"),
    ]
    judged = verdicts(cases.values(), answers)
    assert list(judged) == ["verify", "probe", UNION]
    verify, probe, union = (score(each, judged[each]) for each in judged)
    assert (verify.detected, verify.asked) == (Share(2, 1), 1)
    assert (probe.detected, probe.first, probe.alarms) == (Share(2, 1), Share(2, 0), Share(1, 1))
    assert verify.alarms == Share(1, 0)
    assert (union.detected, union.first, union.alarms, union.errors) == (
        Share(2, 2),
        Share(2, 1),
        Share(2, 1),
        Share(2, 0),
    )
    peer = replace(answer(cases[BUG], Found("network", "error"), means="peer"), tool="peer")
    with_peer = verdicts(cases.values(), [*answers, peer])
    assert with_peer[UNION] == judged[UNION]
    assert with_peer["peer"][0].suspect == "network"
    assert by_component(judged[UNION])["autograd-graph"] == (Share(1, 1), Share(1, 0))
    assert confusion(judged[UNION]) == {("environment", "environment"): 1, ("autograd-graph", "network"): 1}
    assert confusion(judged["verify"])["autograd-graph", ""] == 1
    mute = judge(cases[BUG], [replace(answer(cases[BUG], Found("", "warning")), suspects=())])
    assert confusion([mute]) == {("environment", NO_COMPONENT): 1}
    assert as_data(judged)["union"][0]["case"] == "quick/healthy@1"


def test_suspects_of_several_reports_add_up():
    assert together([("buffer", 0.6), ("network", 0.7), ("buffer", 0.5)]) == (("buffer", 0.8), ("network", 0.7))


def test_wilson_intervals_are_those_of_the_book():
    low, high = Share(10, 9).interval
    assert (round(low, 3), round(high, 3)) == (0.596, 0.982)
    low, high = Share(80, 0).interval
    assert (low, round(high, 3)) == (0.0, 0.046)


def test_targets_are_judged_on_the_validation_half_only(cases):
    validation = [judge(cases[BUG], [answer(cases[BUG], Found("environment", "error"))])]
    met = dict(targets({"union": validation}))
    assert met["union: detected at least 90 % — 100 %"] is True
    assert met["run: detected at least 80 % — not asked"] is None
    other = replace(cases[BUG], base=replace(cases[BUG].base, half="development"))
    missed = dict(targets({"union": [judge(other, [answer(other)]), judge(cases[BUG], [answer(cases[BUG])])]}))
    assert missed["union: detected at least 90 % — 0 %"] is False
