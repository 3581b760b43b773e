import io

from rldebug.evidence.env_play import EnvPlay, Play, Rewards
from rldebug.render.env import print_played, render

PLAYED = EnvPlay(
    name="Tank-v0",
    plays=(
        Play("random", "random", (10.0, 20.0), (30, 40), 1, 1, steps=70, longest=40, interval=(10.0, 20.0)),
        Play("always 0", "constant", (5.0, 5.0), (30, 30), 2, 0, steps=60, longest=30, interval=(5.0, 5.0)),
        Play("always 1", "constant", (25.0, 35.0), (90, 70), 0, 2, steps=160, longest=90, interval=(25.0, 35.0)),
        Play("cyclic", "automaton", steps=5000, longest=5000),
    ),
    rewards=Rewards(steps=290, distinct=3, low=-1.0, high=2.0, counts=(200, 0, 1)),
    observation_space="Box(-1.0, 1.0, (4,), float32)",
    action_space="Discrete(2)",
    time_limit=90,
    step_seconds=2e-5,
    left_out=("tabular: 28224 elements of observation are too many for a table",),
)


def lines(played=PLAYED, width=100):
    return render(played, width).plain.splitlines()


def row(name):
    return next(each for each in lines() if each.strip().startswith(name)).split()


def test_the_best_player_stands_first_and_one_without_an_end_last():
    table = [each.strip() for each in lines()]
    order = [each for each in table if each.startswith(("random", "always", "cyclic"))]
    assert [each.split("  ")[0] for each in order] == ["always 1", "random", "always 0", "cyclic"]


def test_each_row_says_how_far_it_came_and_how_it_ended():
    assert row("random") == ["random", "15", "10", "–", "20", "35", "2", "1", "terminated,", "1", "truncated"]
    assert row("always 1")[-3:] == ["←", "best", "constant"]
    assert row("cyclic") == ["cyclic", "–", ">", "5", "000", "0", "nothing", "yet"]


def test_what_is_declared_and_how_fast_it_is():
    text = "\n".join(lines())
    assert "Tank-v0 · 5 290 steps in 6 episodes · 50 000 steps/s" in text
    assert "Discrete(2), cut off after 90 steps" in text
    assert "! tabular: 28224 elements" in text


def test_a_rare_reward_shows_in_the_histogram():
    bars = next(each for each in lines() if "reward" in each)
    assert "█ ▁ 2" in bars


def test_one_value_needs_no_histogram():
    found = lines(
        EnvPlay("x", PLAYED.plays[1:2], rewards=Rewards(steps=60, distinct=1, low=1.0, high=1.0, counts=(60,)))
    )
    assert "  reward  always 1" in found
    assert "  length  always 30" in found


def test_nothing_played_is_said_in_a_few_lines():
    found = lines(EnvPlay("x", left_out=("nobody could play: OSError: no licence",)))
    assert found[0] == "x · 0 steps in 0 episodes"
    assert "! nobody could play: OSError: no licence" in found


def test_long_spaces_are_cut():
    wide = EnvPlay("x", observation_space="Box(" + "-1. " * 200)
    assert max(len(each) for each in lines(wide, 80)) <= 80


def test_it_is_printed_without_colours_into_a_file():
    out = io.StringIO()
    print_played(PLAYED, file=out)
    assert "\x1b" not in out.getvalue()
    assert "← best constant" in out.getvalue()
