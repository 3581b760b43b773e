"""The page of a ladder: complete, self-contained, and deaf to what names try to tell it."""

import dataclasses
import math
import re

import numpy as np
import pytest

from rldebug.evidence.ladder import Ladder
from rldebug.finding import Finding, Report
from rldebug.render.ladder_page import page, write_page
from tests.render.test_probe import EVERYTHING, VALUES, rung

HOSTILE = '</style><script>alert("x")</script><img src=x onerror=alert(1)>'
FOUND = Finding(
    code="DIS001", name="a-name", component="discounting", severity="error", message="rewards are not carried back",
    seen="3 delayed-reward: first is worth 0.000", expected="0.990", help="look at the target", confidence=0.9,
)  # fmt: skip
REPORT = Report("probe", (FOUND,), checked=("DIS001",), skipped={"TGT001": "needs a target network"})


@pytest.fixture(scope="module")
def html():
    return page(EVERYTHING, REPORT)


def card(html, name):
    return re.search(rf'<figure class="[a-z-]+" id="rung-{name}">.*?</figure>', html, re.DOTALL)[0]


def test_everything_is_said_in_words(html):
    for each in EVERYTHING.rungs:
        assert each.name in html
        assert each.reason in html.replace("&nbsp;", " ")
    for words in ("2 passed", "4 failed", "1 undecided", "1 crashed", "2 not run", "1 did not apply"):
        assert words in html
    assert "γ 1.000 told by the values, 0.99 declared" in html
    assert "rollouts of 32 steps" in html


def test_findings_with_their_pages_and_suspects(html):
    for words in ("rewards are not carried back", "first is worth 0.000", "look at the target", "What to try first"):
        assert words in html
    assert re.search(r'class="suspects">.*discounting.*0\.90', html)
    assert "needs a target network" in html


def test_a_value_rung_shows_learned_beside_right(html):
    drawn = card(html, "delayed-reward")
    assert 'aria-label="first 0, right 0.99; second 1, right 1"' in drawn
    assert drawn.count('class="right"') == 2
    assert drawn.count('class="seed-dot"') == 4  # two seeds, two looks
    assert "A known mistake leads to just this: future ignored (or nothing learned)" in drawn


def test_small_errors_look_small_where_all_is_worth_nothing():
    flat = rung(7, "leaking-return", looks=("x", "y"), right=np.zeros(2), value=np.array([0.05, -0.02]))
    widths = re.findall(
        r'class="learned" .*?width="([\d.]+)"', card(page(Ladder("x", (flat,)), Report("probe")), flat.name)
    )
    assert max(map(float, widths)) < 10


def test_a_policy_rung_frames_the_best_action(html):
    drawn = card(html, "action-reward")
    assert "75%" in drawn
    assert "25%" in drawn
    assert drawn.count('class="best"') == 1


def test_numbers_and_returns_are_dots_between_ends(html):
    assert card(html, "interior-optimum").count('class="seed-dot"') == 2
    assert 'aria-label="return 0.75, right 1"' in card(html, "recall")


def test_there_is_a_curve_for_each_seed(html):
    assert card(html, "delayed-reward").count("<polyline") == 2
    assert "<polyline" not in card(html, "constant-reward")  # without a history there is none to draw
    assert "off by 1 at first, 0.98 last" in card(html, "delayed-reward")


def test_what_passed_is_folded_away_unless_it_is_all(html):
    assert "<details><summary>2 passed" in html
    sound = Ladder("algo:ppo", (rung(1),), gamma=0.99)
    assert "<details open><summary>1 passed" in page(sound, Report("probe"))


def test_it_asks_nobody_for_anything(html):
    assert "<script" not in html
    assert not re.search(r"(src|href)\s*=\s*[\"']?(https?:)?//", html)
    assert not re.search(r"@import|url\(", html)
    assert "default-src 'none'" in html


def test_nothing_hostile_becomes_markup():
    evil = dataclasses.replace(
        VALUES, name=HOSTILE, title=HOSTILE, reason=HOSTILE, looks=(HOSTILE, "b"), matched=(HOSTILE,)
    )
    attempts = tuple(dataclasses.replace(each, reason=HOSTILE) for each in VALUES.attempts)
    idle = rung(9, HOSTILE, "not run", reason=HOSTILE)
    ladder = Ladder(HOSTILE, (dataclasses.replace(evil, attempts=attempts), idle), {"n_step": HOSTILE})
    finding = dataclasses.replace(FOUND, message=HOSTILE, seen=HOSTILE, expected=HOSTILE, help=HOSTILE, name=HOSTILE)
    html = page(ladder, Report("probe", (finding,)))
    assert "alert(" in html
    assert "<img" not in html
    assert "<script" not in html
    assert html.count("</style>") == 1


def test_errors_that_are_no_numbers_are_left_out():
    odd = rung(1, "odd", "failed", looks=("a",), right=np.ones(1), history=((1, math.inf), (200, math.nan), (400, 1.0)))
    assert "nan" not in card(page(Ladder("x", (odd,)), Report("probe")), "odd")
    wild = rung(1, "wild", "failed", history=((1, 1.0), (200, 1e9), (400, math.nan)))
    drawn = card(page(Ladder("x", (wild,)), Report("probe")), "wild")
    assert "nan" not in drawn
    assert all(0 <= float(y) <= 102 for y in re.findall(r",([\d.-]+)", re.search(r'points="(.*?)"', drawn)[1]))


def test_an_empty_ladder_has_a_page(tmp_path):
    write_page(Ladder("x", ()), Report("probe"), tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "The ladder" in text
    assert "What was learned" not in text
