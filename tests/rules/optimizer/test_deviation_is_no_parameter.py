"""A deviation that is a tensor, and no parameter."""

from __future__ import annotations

import numpy as np

from rldebug.evidence.script import Script
from rldebug.rules.optimizer.deviation_is_no_parameter import DeviationIsNoParameter
from tests.programs.losses_made import script, term
from tests.watched import findings
from tests.wild import vpg


def made(strays: int, plain: int, *, learned: bool = False) -> Script:
    audits = []
    for number in range(8):
        std = np.full((32, 2), 0.6) + 0.003 * learned * np.arange(number * 64, (number + 1) * 64).reshape(32, 2)
        audits.append([[term(1, number, family="normal", std=std, strays=strays, plain=plain)]])
    return script(audits)


def test_fires_on_a_tensor_that_no_module_lists() -> None:
    (finding,) = DeviationIsNoParameter().check(made(1, 1))
    assert finding.component == "optimizer"


def test_fires_as_the_root_in_a_program_that_was_watched() -> None:
    given = {each.code: each for each in findings(lambda: vpg.program("deviation-is-a-tensor"), "OPT520", "ACT356")}
    assert given["OPT520"].follows == ()
    assert given["ACT356"].follows == ("OPT520",)


def test_quiet_on_a_parameter_that_was_left_out() -> None:
    assert not list(DeviationIsNoParameter().check(made(1, 0)))
    assert not findings(lambda: vpg.program("deviation-not-given-to-the-optimizer"), "OPT520")


def test_quiet_where_it_is_stepped_by_hand_or_held_as_a_tensor() -> None:
    assert not list(DeviationIsNoParameter().check(made(1, 1, learned=True)))
    assert not findings(lambda: vpg.program(style="deviation-held-as-a-tensor"), "OPT520", "ACT356")
