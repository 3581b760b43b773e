"""A deviation with a gradient that nobody steps."""

from __future__ import annotations

import numpy as np

from rldebug.evidence.script import Script
from rldebug.rules.action_sampling.deviation_in_no_optimizer import DeviationInNoOptimizer
from tests.programs.losses_made import script, term


def made(strays: int, learned: bool) -> Script:
    audits = []
    for number in range(8):
        std = np.full((32, 2), 0.6, dtype=np.float64) + 0.003 * learned * np.arange(
            number * 64, (number + 1) * 64
        ).reshape(32, 2)
        audits.append([[term(1, number, family="normal", std=std, strays=strays)]])
    return script(audits)


def test_fires_a_deviation_outside_of_all_optimizers_is_found() -> None:
    assert len(list(DeviationInNoOptimizer().check(made(1, learned=False)))) == 1


def test_quiet_a_deviation_that_is_held_is_fine() -> None:
    assert list(DeviationInNoOptimizer().check(made(0, learned=True))) == []


def test_quiet_a_deviation_that_is_changed_by_hand_is_fine() -> None:
    assert list(DeviationInNoOptimizer().check(made(1, learned=True))) == []
