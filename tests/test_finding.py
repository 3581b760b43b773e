"""Findings and reports: what they refuse, how they rank, whom they suspect, and the contract they keep."""

from __future__ import annotations

import dataclasses
import json
import math
from importlib.resources import files

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rldebug.entry import PREFIXES, Entry, first_line, sections
from rldebug.finding import COMPONENTS, SEVERITIES, Finding, Report, Where, rank, thousands
from rldebug.metric import metric
from rldebug.rollout import Device, Rollout, Update
from rldebug.rule import Rule

SCHEMA = jsonschema.Draft202012Validator(json.loads((files("rldebug") / "report.schema.json").read_text("utf-8")))


def finding(code="ENT001", severity="warning", confidence=0.9, follows=(), **more):
    given = {
        "name": "entropy-collapse",
        "component": PREFIXES[code[:3]],
        "message": "policy entropy collapsed early",
        "seen": "0.02",
        "expected": "above 0.05",
        "help": "check the sign",
        **more,
    }
    return Finding(code=code, severity=severity, confidence=confidence, follows=follows, **given)


# ── one finding ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"severity": "fatal"}, "severity is 'fatal', expected one of error, warning, note"),
        ({"component": "policy"}, "no component is called 'policy'"),
        ({"confidence": 1.5}, "confidence is 1.5, expected a share between 0 and 1"),
        ({"confidence": -0.1}, "confidence is -0.1"),
        ({"confidence": math.nan}, "confidence is nan"),
    ],
)
def test_a_finding_that_no_report_could_hold_is_refused_where_it_is_made(wrong, told):
    with pytest.raises(ValueError, match="ENT001: ") as refused:
        finding(**wrong)
    assert told in str(refused.value)


@pytest.mark.parametrize(
    ("where", "text"),
    [
        (Where(), ""),
        (Where(file="train.py"), "train.py"),
        (Where(file="train.py", line=88), "train.py:88"),
        (Where(line=88), ""),
        (Where(update=0), "update 0"),
        (Where(env_step=0), "0 env steps"),
        (
            Where("train.py", 88, 1536, 1234567, "policy.0.weight"),
            "train.py:88 · policy.0.weight · update 1 536 · 1 234 567 env steps",
        ),
        (Where("gae.py", 40, end_line=52, function="gae"), "gae.py:40–52 in gae"),
        (Where("gae.py", 40, 3, end_line=52), "gae.py:40–52 · update 3"),
        (Where("train.py", 40, seen_at="train.py:247"), "train.py:40 · seen at line 247"),
        (Where("gae.py", 40, seen_at="train.py:247"), "gae.py:40 · seen at train.py:247"),
    ],
)
def test_a_place_reads_from_the_line_to_the_step(where, text):
    assert str(where) == text


def test_digits_in_threes():
    assert [thousands(each) for each in (0, 999, 1000, 12345678, -1234)] == [
        "0",
        "999",
        "1 000",
        "12 345 678",
        "-1 234",
    ]


def test_numbers_of_numpy_become_plain():
    """Rules count with numpy; what they find must go through json all the same."""
    where = Where("train.py", np.int32(3), np.int64(7), np.int64(2**40))
    written = json.loads(json.dumps(finding(confidence=np.float32(0.5), where=where).to_dict()))
    assert written["where"] == {
        "file": "train.py",
        "line": 3,
        "update": 7,
        "env_step": 2**40,
        "tensor": None,
        "column": None,
    }
    assert written["confidence"] == 0.5


def test_there_and_back():
    whole = finding(where=Where("train.py", 3, 4, 5, "w"), follows=("POL007", "POL008"))
    assert Finding.from_dict(json.loads(json.dumps(whole.to_dict()))) == whole
    several = finding(where=Where("gae.py", 3, end_line=9, function="gae", seen_at="train.py:88"))
    assert Finding.from_dict(json.loads(json.dumps(several.to_dict()))) == several


# ── ranking ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_roots_before_followers_severe_before_mild_sure_before_unsure():
    order = [
        finding("POL007", "error", 0.95),
        finding("POL008", "error", 0.5),
        finding("ENT002", "warning", 0.9),
        finding("VAL001", "warning", 0.9),  # as sure: by code
        finding("VAL002", "warning", 0.4),
        finding("OPT001", "note", 1.0),
        finding("GRA002", "error", 1.0, follows=("POL007",)),
        finding("ENT001", "warning", 1.0, follows=("POL007",)),
    ]
    assert rank(reversed(order)) == tuple(order)


# ── suspects ────────────────────────────────────────────────────────────────────────────────────────────────────────


def suspects(*findings):
    return [(each.component, each.score, each.codes) for each in Report("run", findings).suspects]


def test_one_finding_scores_its_confidence_by_severity():
    assert suspects(finding("POL007", "error", 0.9)) == [("policy-loss", 0.9, ("POL007",))]
    assert suspects(finding("POL007", "warning", 0.9)) == [("policy-loss", 0.63, ("POL007",))]


def test_findings_of_one_component_add_up_as_chances():
    two = suspects(finding("POL007", "error", 0.5), finding("POL008", "error", 0.5))
    assert two == [("policy-loss", 0.75, ("POL007", "POL008"))]


def test_a_note_makes_nobody_suspect():
    assert suspects(finding("POL007", "note", 1.0)) == []
    report = Report("run", (finding("POL007", "note", 1.0),))
    assert report.clean
    assert not Report("run", (finding("POL007", "warning", 0.1),)).clean


def test_a_folded_finding_speaks_quietly():
    found = suspects(finding("ENT001", "error", 0.8, follows=("POL007",)), finding("POL007", "warning", 0.5))
    assert found == [("policy-loss", 0.35, ("POL007",)), ("entropy", 0.2, ("ENT001",))]


def test_a_rule_that_speaks_once_per_layer_counts_once():
    many = [finding("NET003", "warning", 0.5, message=f"layer {i} is dead") for i in range(9)]
    found = suspects(*many, finding("NET003", "warning", 0.8), finding("POL007", "error", 0.9))
    assert found == [("policy-loss", 0.9, ("POL007",)), ("network", 0.56, ("NET003",))]


def test_roots_and_folded_part_the_findings():
    root, follower = finding("POL007"), finding("ENT001", follows=("POL007",))
    report = Report("run", (root, follower))
    assert (report.roots, report.folded) == ((root,), (follower,))


def test_an_empty_report_suspects_nobody():
    assert Report("run").suspects == ()
    assert Report("run").clean


# ── the contract ────────────────────────────────────────────────────────────────────────────────────────────────────

codes = st.builds(
    lambda prefix, number: f"{prefix}{number:03d}", st.sampled_from(sorted(PREFIXES)), st.integers(0, 999)
)
words = st.text(max_size=12)
maybe = st.one_of(st.none(), st.integers(0, 2**62))
places = st.builds(
    Where, st.none() | words, maybe, maybe, maybe, st.none() | words, maybe, maybe, st.none() | words, st.none() | words
)


@st.composite
def findings(draw):
    code = draw(codes)
    return finding(
        code,
        draw(st.sampled_from(SEVERITIES)),
        draw(st.floats(0, 1)),
        tuple(draw(st.lists(codes, max_size=3, unique=True))),
        name=draw(st.sampled_from(["x", "a-b", "entropy-collapse", "0-k1"])),
        message=draw(words),
        seen=draw(words),
        expected=draw(words),
        help=draw(words),
        where=draw(places),
    )


reports = st.builds(
    Report,
    st.sampled_from(["run", "report", "watch", "demo"]),
    st.lists(findings(), max_size=5).map(rank),
    st.lists(codes, max_size=5, unique=True).map(tuple),
    st.dictionaries(codes, words, max_size=4),
    st.dictionaries(words, words, max_size=4),
    st.none() | st.just({"family": "ppo", "gamma": 0.99}),
    st.none() | st.integers(0, 255),
)


@settings(deadline=None, max_examples=60)
@given(reports)
def test_every_report_keeps_the_contract(report):
    written = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    SCHEMA.validate(written)
    assert written["format"] == 1
    assert Report.from_dict(written) == report
    scores = [each["score"] for each in written["suspects"]]
    assert scores == sorted(scores, reverse=True)
    assert {each["component"] for each in written["suspects"]} <= {each.component for each in report.findings}


def test_the_contract_knows_the_same_words():
    assert tuple(SCHEMA.schema["$defs"]["component"]["enum"]) == COMPONENTS
    assert SCHEMA.schema["properties"]["findings"]["items"]["properties"]["severity"]["enum"] == list(SEVERITIES)


# ── entries ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class Paged(Entry):
    """The first line.

    Some prose with ## in it.

    ## What it checks
    One thing.

    ### Not a section of its own
    ## References
    """

    code = "ADV999"
    name = "paged"


def test_a_page_is_the_docstring():
    assert Paged.summary() == "The first line."
    assert Paged.component() == "advantage"
    assert sections(Paged.page()) == {
        "What it checks": "One thing.\n\n### Not a section of its own",
        "References": "",
    }
    assert sections("no heading") == {}
    assert first_line("") == ""


def test_an_entry_without_docstring_has_an_empty_page():
    class Bare(Entry):
        code = "ADV998"

    assert (Bare.page(), Bare.summary()) == ("", "")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Bent(Rule):
    """Something is bent."""

    code = "NET901"
    name = "bent"
    severity = "error"

    most: float = 0.5  # of what is straight


def test_a_rule_signs_its_findings():
    made = Bent().finding("it is bent", seen="s", expected="e", help="h", where=Where(update=3))
    assert (made.code, made.name, made.component, made.severity) == ("NET901", "bent", "network", "error")
    assert (made.where, made.follows, made.confidence) == (Where(update=3), (), 0.9)
    milder = Bent().finding("a little", seen="s", expected="e", help="h", severity="note", confidence=0.2)
    assert (milder.severity, milder.confidence, milder.where) == ("note", 0.2, Where())
    assert Bent(most=2).thresholds() == {"most": 2}
    with pytest.raises(dataclasses.FrozenInstanceError):
        Bent().most = 3


def test_a_metric_is_a_function_that_knows_what_it_needs():
    @metric("x/mean", "x/std", unit="things", reads=Update, needs=["value", "since_rollout"])
    def both(update):
        """Mean and spread of things.

        More about it.
        """
        return 1.0, 2.0

    declared = both.metric
    assert both(None) == (1.0, 2.0)
    assert (declared.name, declared.names, declared.kind) == ("x/mean", ("x/mean", "x/std"), "number")
    assert declared.summary() == "Mean and spread of things."
    assert declared.page().endswith("More about it.")
    assert declared.needs == ("value", "since_rollout")
    assert (declared.detail, declared.code) == (False, False)
    assert declared.how_to_enable() == "pass value= to dbg.update(...), after dbg.rollout(...)"


@pytest.mark.parametrize(
    ("more", "detail"),
    [
        ({}, False),
        ({"detail": True}, True),
        ({"code": True}, True),
        ({"kind": "table"}, True),
        ({"kind": "trace"}, True),
    ],
)
def test_what_costs_a_pass_over_the_rows_is_sampled(more, detail):
    declared = metric("x/y", unit="1", reads=Rollout, **more)(lambda rollout: None).metric
    assert declared.detail is detail
    assert declared.how_to_enable() == "use dbg.rollout(...)"


def test_what_nobody_can_hand_over_is_not_asked_for():
    fan = metric("x/fan", unit="1", reads=Device, needs=["fan"])(lambda device: None).metric
    assert fan.how_to_enable().startswith("use a CUDA device")
    foreign = metric("x/y", unit="1", reads=int)(lambda number: None).metric
    assert foreign.how_to_enable() == "`x/y` was not recorded"
