import dataclasses
from pathlib import Path

from rldebug.evidence.ladder import Ladder, Rung
from rldebug.evidence.ladder_file import Kept
from rldebug.finding import Report
from rldebug.render.sections.probes import sections

from .shown import HOSTILE, shown


def kept(target, *outcomes, report=None):
    rungs = tuple(
        Rung(name, number, f"title of {name}", "value", outcome, f"why {outcome}")
        for number, (name, outcome) in enumerate(outcomes)
    )
    return Kept(Path("x.json"), target, 1.0, Ladder(target, rungs), report)


def html_of(*ladders):
    return "".join(each.html for each in sections(dataclasses.replace(shown(), ladders=ladders), ()))


def test_targets_stand_side_by_side_rung_by_rung():
    html = html_of(kept("algo:ppo", ("constant", "passed"), ("seen", "failed")), kept("mine", ("constant", "not run")))
    rows = html.partition("<table")[2].split("<tr>")
    assert [each.count("<th") for each in rows[1:]] == [2, 1, 1]
    assert "✓ passed" in rows[2]
    assert "not run" in rows[2]
    assert "✗ failed" in rows[3]
    assert "1 passed, 1 failed; the lowest that failed: seen (why failed)" in html


def test_what_was_found_stands_below():
    assert "what that means for mine" in html_of(kept("mine", ("seen", "failed"), report=shown().report))
    assert "what that means" not in html_of(kept("mine", ("seen", "failed"), report=Report("probe")))


def test_a_damaged_file_is_said_to_be_one():
    assert "it is cut off" in html_of(Kept(Path("x.json"), "x", 1.0, problem="it is cut off"))


def test_names_stay_text():
    assert "<img" not in html_of(kept(HOSTILE, (HOSTILE, "failed")), Kept(Path("x"), HOSTILE, 1.0, problem=HOSTILE))


def test_no_ladder_no_section():
    assert html_of() == ""
