import io

import numpy as np
import pytest
from rich.console import Console

from rldebug.render.progress import Show, clock, short


@pytest.mark.parametrize(
    ("number", "text"),
    [(0.012345, "0.0123"), (187.34, "187.3"), (-22.0, "-22"), (123456.7, "123 457"), (np.nan, "nan"), (3e-9, "3e-09")],
)
def test_numbers_are_short(number, text):
    assert short(number) == text


def test_the_clock():
    assert [clock(each) for each in (5, 65, 3725, -1)] == ["0:05", "1:05", "1:02:05", "0:00"]


def shown(*, terminal, ticks, every_line=False, quiet=False):
    file = io.StringIO()
    show = Show(
        Console(file=file, force_terminal=terminal, width=120), "ppo X", 100, 0, every_line=every_line, quiet=quiet
    )
    for i in range(ticks):
        show.tick(i + 1, 10 * (i + 1), {"return": 5.0, "kl": 0.01})
    show.close()
    return file.getvalue()


def test_without_a_terminal_there_is_a_line_now_and_then():
    assert shown(terminal=False, ticks=5).count("\n") == 1
    assert "iteration 1: 10 steps · return 5 · kl 0.01 ·" in shown(terminal=False, ticks=5)


def test_a_line_for_every_iteration_where_asked():
    assert shown(terminal=False, ticks=5, every_line=True).count("iteration") == 5


def test_on_a_terminal_there_is_a_bar():
    said = shown(terminal=True, ticks=3)
    assert "ppo X" in said
    assert "30%" in said
    assert "kl 0.01" in said


def test_quiet():
    assert shown(terminal=True, ticks=3, quiet=True) == ""
