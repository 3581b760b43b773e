"""The ladder as it is printed: every outcome said, every failure drawn, in 80 columns and without colour."""

import dataclasses
import io
import math

import numpy as np
import pytest
from rich.console import Console

from rldebug.evidence.ladder import Attempt, Ladder, Rung
from rldebug.render.probe import bar, discounts, lengths, print_ladder, progress, rule_line, some


def attempt(seed=0, outcome="passed", reason="within 1.5% after 512 steps", **more):
    given = {"steps": 512, "updates": 16, "lr": 0.005, "moved": 0.1, "seconds": 0.25, "error": 0.015, "noise": 0.0}
    return Attempt(seed=seed, outcome=outcome, reason=reason, **{**given, **more})


def rung(number=1, name="constant-reward", outcome="passed", *, asks="value", seeds=1, reason=None, **more):
    """All seeds alike; `value` and `policy` are those of each, the rest is the rung's."""
    tables = {
        each: more.pop(each)
        for each in ("value", "policy", "returned", "forbidden", "history", "error")
        if each in more
    }
    if "returned" in tables:
        tables["returns"] = tables.pop("returned")
    reason = reason or {"passed": "within 1.5% after 512 steps", "failed": "off by 97% after 4 352 steps"}.get(
        outcome, ""
    )
    tried = [] if outcome in ("not run", "not applicable") else range(seeds)
    attempts = tuple(attempt(seed, outcome, reason, **tables) for seed in tried)
    return Rung(name, number, f"What {name} asks.", asks, outcome, reason, attempts=attempts, **more)


VALUES = rung(
    3, "delayed-reward", "failed", seeds=2, looks=("first", "second"), right=np.array([0.99, 1.0]),
    value=np.array([0.0, 1.0]), matched=("future-ignored", "nothing-learned"), history=((200, 1.0), (400, 0.98)),
)  # fmt: skip
CHANCES = rung(
    4, "action-reward", "failed", asks="policy", seeds=2, looks=("only",), right=np.array([[0.0, 1.0]]),
    choices=np.array([0.0, 1.0]), policy=np.array([[0.75, 0.25]]),
)  # fmt: skip
NUMBERS = rung(
    18, "interior-optimum", "failed", asks="policy", seeds=2, looks=("only",), right=np.array([[0.5]]),
    choices=np.linspace(-1, 1, 81), policy=np.array([[-1.0]]),
)  # fmt: skip
RETURN = rung(29, "recall", "failed", asks="return", seeds=2, returns=(0.5, 1.0), returned=0.75, forbidden=0.125)
OTHERS = (
    rung(1),
    rung(2, "observed-reward", seeds=5),
    rung(
        6,
        "two-step-credit",
        "undecided",
        reason="only 4 optimizer steps in 30 000 environment steps: settings unsuited",
    ),
    rung(7, "leaking-return", "crashed", reason="ValueError: shapes differ (mine.py:12)"),
    rung(30, "masked-actions", "not applicable", reason="for algorithms with masks"),
    rung(31, "sparse-chain", "not run", reason="stands on action-reward, which was not passed"),
    rung(32, "shifting-reward", "not run", reason="stands on action-reward, which was not passed"),
)
EVERYTHING = Ladder(
    "mine.py:make_agent",
    tuple(sorted((*OTHERS, VALUES, CHANCES, NUMBERS, RETURN), key=lambda each: each.number)),
    declared={"gamma": 0.99, "lam": 0.95, "rollout": 32},
    gamma=1.0,
    seconds=12.34,
)


def printed(ladder, width=80, **console):
    file = io.StringIO()
    print_ladder(Console(file=file, width=width, highlight=False, **console), ladder)
    return file.getvalue()


EXPECTED = """\
mine.py:make_agent on 5 rungs
    rung             outcome      asks    seeds    steps    time  within
  1 constant-reward  ✓ passed     value   ✓          512   0.2 s    1.5%
  3 delayed-reward   ✗ failed     value   ✗✗       1 024   0.5 s
      off by 97% after 4 352 steps
  4 action-reward    ✗ failed     policy  ✗✗       1 024   0.5 s
      off by 97% after 4 352 steps
not run:       sparse-chain (stands on action-reward, which was not passed)
did not apply: masked-actions (for algorithms with masks)

3 delayed-reward: What delayed-reward asks.
            █ learned, │ right                        learned    right
    first                                          │    0.000    0.990
    second  ███████████████████████████████████████│    1.000    1.000
    a known mistake leads to just this: future ignored (or nothing learned)

4 action-reward: What action-reward asks.
          chance of each action, ★ the best
    only   0 ██████    75%  ★1 ██        25%

γ 1.000 told by the values, 0.99 declared · λ 0.95 declared
1 passed, 2 failed, 1 not run, 1 did not apply · 12.3 s
"""


def test_the_ladder_to_the_letter():
    rungs = (OTHERS[0], VALUES, CHANCES, OTHERS[4], OTHERS[5])
    ladder = Ladder("mine.py:make_agent", rungs, {"gamma": 0.99, "lam": 0.95}, 1.0, None, 12.34)
    assert printed(ladder) == EXPECTED


@pytest.mark.parametrize("width", [80, 100, 120])
def test_no_line_is_wider_than_the_terminal(width):
    lines = printed(EVERYTHING, width).splitlines()
    assert max(map(len, lines)) <= width
    assert not any(line.endswith(" · ") for line in lines)


def test_a_reason_stands_in_the_line_where_there_is_room():
    wide, narrow = (printed(EVERYTHING, width).splitlines() for width in (120, 80))
    crashed = "ValueError: shapes differ (mine.py:12)"
    assert any("leaking-return" in line and crashed in line for line in wide)
    assert any(line.strip() == crashed for line in narrow)


def test_every_rung_and_every_outcome_is_said():
    said = printed(EVERYTHING, 100)
    for each in EVERYTHING.rungs:
        assert each.name in said
    for words in ("2 passed", "4 failed", "1 undecided", "1 crashed", "2 not run", "1 did not apply", "12.3 s"):
        assert words in said.splitlines()[-1]
    assert "sparse-chain, shifting-reward (stands on action-reward, which was not passed)" in said


def test_there_is_a_mark_for_every_seed():
    assert any("observed-reward" in line and "✓✓✓✓✓" in line for line in printed(EVERYTHING).splitlines())


def test_numbers_and_returns_stand_on_a_scale():
    said = printed(EVERYTHING)
    assert "only  -1 ●───" in said
    assert "1 · -1, best 0.5" in said
    assert "at random 0.5 ───────────────●─────────────│ 1 best · got 0.75" in said
    assert "12% of the actions lately were not allowed" in said


def test_a_policy_is_that_of_one_seed_and_not_of_their_mean():
    each = [attempt(i, "failed", policy=np.array([[1.0 - i, float(i)]])) for i in range(2)]
    said = printed(Ladder("x", (dataclasses.replace(CHANCES, attempts=tuple(each)),)))
    assert "100%" in said
    assert "50%" not in said


def test_a_sound_algorithm_takes_less_than_a_screen():
    apart = [rung(i + 34, f"masks-{i}", "not applicable", reason="for algorithms with masks") for i in range(4)]
    ladder = Ladder(
        "algo:ppo", (*(rung(i, f"rung-{i}") for i in range(1, 34)), *apart), {"gamma": 0.99}, 0.99, 0.95, 60.0
    )
    said = printed(ladder, 80)
    assert len(said.splitlines()) <= 40
    assert "33 passed, 4 did not apply · 60.0 s" in said


def test_colours_only_where_they_are_wanted(monkeypatch):
    assert "\x1b[" in printed(EVERYTHING, force_terminal=True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[3" not in printed(EVERYTHING, force_terminal=True)
    assert "\x1b" not in printed(EVERYTHING)


def test_a_target_may_be_called_anything():
    assert "[bold]x[/] on 0 rungs" in printed(Ladder("[bold]x[/]", ()))


def test_many_failures_are_not_all_drawn():
    failed = [rung(i, f"rung-{i}", "failed", looks=("a",), right=np.ones(1), value=np.zeros(1)) for i in range(1, 8)]
    said = printed(Ladder("x", tuple(failed)))
    assert said.count("│ right") == 4
    assert "and 3 more: --page FILE draws them all" in said


def test_of_many_looks_some_are_drawn():
    looks = tuple(f"look-{i}" for i in range(30))
    said = printed(Ladder("x", (rung(1, "long", "failed", looks=looks, right=np.ones(30), value=np.zeros(30)),)))
    assert "look-0 " in said
    assert "look-29" in said
    assert said.count("look-") == 8
    assert "… and 22 between them" in said


def test_many_actions_take_several_lines():
    even = np.full((1, 12), 1 / 12)
    one = rung(
        22, "many", "failed", asks="policy", looks=("only",), right=np.eye(12)[:1], choices=np.arange(12.0), policy=even
    )
    said = printed(Ladder("x", (one,)))
    assert said.count("8%") == 12
    assert said.count("★") == 2  # in the legend, and at the best
    assert max(map(len, said.splitlines())) <= 80


def test_values_that_ran_away_keep_their_column():
    said = printed(Ladder("x", (rung(1, "far", "failed", looks=("a",), right=np.ones(1), value=np.array([-3e12])),)))
    assert "-3.0e+12        1" in said


def test_nothing_measured_is_nothing_drawn():
    said = printed(Ladder("x", (rung(1, "early", "failed", reason="value(obs) is not finite", error=math.nan),)))
    assert "value(obs) is not finite" in said
    assert "nan" not in said


@pytest.mark.parametrize(
    ("value", "right", "drawn"),
    [(1.0, 0.5, "██│█"), (0.5, 1.0, "██ │"), (0.625, None, "██▌ "), (0.28125, None, "█▏  "), (0.0, 0.0, "│   ")],
    ids=["too-much", "too-little", "half-a-cell", "an-eighth", "nothing"],
)
def test_bars_from_zero(value, right, drawn):
    assert bar(value, right, 0.0, 1.0, 4).plain == drawn


@pytest.mark.parametrize(
    ("value", "right", "drawn"),
    [(-1.0, 1.0, "██ │"), (1.0, -1.0, "│ ██"), (-0.75, 1.0, "▐█ │")],
    ids=["wrong-side", "other-side", "half"],
)
def test_bars_on_both_sides_of_zero(value, right, drawn):
    assert bar(value, right, -1.0, 1.0, 4).plain == drawn


def test_what_is_beyond_a_scale_stands_at_its_end():
    assert rule_line(9.0, 0.0, 0.0, 1.0, 5).plain == "│───●"


def test_which_of_many_to_show():
    assert some(3, 8) == [0, 1, 2]
    assert some(101, 3) == [0, 50, 100]
    assert some(0, 8) == []


@pytest.mark.parametrize(
    ("declared", "gamma", "said"),
    [
        ({"gamma": 0.99}, 0.9903, ["γ 0.990 told by the values, 0.99 declared"]),
        ({"gamma": 0.99}, None, ["γ 0.99 declared"]),
        ({}, 0.5, ["γ 0.500 told by the values, none declared"]),
        ({}, None, []),
    ],
    ids=["both", "declared", "told", "neither"],
)
def test_discounts_in_words(declared, gamma, said):
    assert discounts(Ladder("x", (), declared, gamma)) == said


def test_both_are_told():
    told = discounts(Ladder("x", (), {"gamma": 0.99, "lam": 0.95}, 0.99, 0.942))
    assert told == ["γ 0.990 told by the values, 0.99 declared", "λ 0.942 told, 0.95 declared"]


def test_lengths_in_words():
    assert lengths(Ladder("x", (), {"n_step": 1, "rollout": 32})) == ["targets of 1 step", "rollouts of 32 steps"]
    assert lengths(Ladder("x", (), {"gamma": 0.99})) == []


# ── while it climbs ─────────────────────────────────────────────────────────────────────────────────────────────────


def climbed(*, terminal, names=()):
    file = io.StringIO()
    show = progress(Console(file=file, force_terminal=terminal, width=100), names)
    show(rung(1))
    show(rung(2, "observed-reward", "failed"))
    show.close()
    show.close()  # in a finally, after an error that came later
    return file.getvalue()


def test_on_a_terminal_it_says_what_is_being_tried():
    said = climbed(terminal=True, names=("constant-reward", "observed-reward", "delayed-reward"))
    assert "trying constant-reward" in said
    assert "2/3" in said
    assert "observed-reward failed · trying delayed-reward" in said
    assert said.endswith("\x1b[?25h\r\x1b[1A\x1b[2K")  # and leaves nothing behind


def test_on_a_terminal_without_knowing_what_comes():
    assert "observed-reward failed" in climbed(terminal=True)


def test_elsewhere_a_short_climb_says_nothing():
    assert climbed(terminal=False, names=("constant-reward",)) == ""


def test_elsewhere_there_is_a_line_now_and_then(monkeypatch):
    monkeypatch.setattr("rldebug.render.probe._SECONDS_BETWEEN_LINES", -1.0)
    assert climbed(terminal=False) == "1 rung done · constant-reward passed\n2 rungs done · observed-reward failed\n"
