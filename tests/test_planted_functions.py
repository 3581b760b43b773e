"""Every planted function is judged as it should be: sound ones clean, wrong ones named."""

from __future__ import annotations

import pytest

from rldebug.oracles.shelf import find
from rldebug.oracles.verification import verification_of
from tests import planted_functions

DRAWN = 15  # of the sixty cases that are drawn for a user: there are a thousand functions here


def every() -> list[object]:
    """All, each a case of its own; a file that cannot be imported is one that fails, and hides no other."""
    cases = []
    for component in planted_functions.components():
        try:
            cases += [pytest.param(each, id=each.id) for each in planted_functions.planted(component)]
        except Exception as error:
            cases.append(pytest.param(error, id=f"{component}:cannot-be-imported"))
    return cases


@pytest.mark.parametrize("planted", every())
def test_planted_function(planted):
    if isinstance(planted, Exception):
        raise planted
    verification = verification_of(planted.function, find(planted.component), planted.map, drawn=DRAWN)
    said = f"{verification.outcome}: {verification.reason}{verification.message} {verification.matched}"
    if not planted.mistakes:
        assert verification.outcome == "right", said
    elif planted.mistakes[0].endswith("-mismatch"):
        assert verification.outcome == "wrong", said
        assert not verification.matched, said
    else:
        assert verification.outcome == "wrong", said
        assert set(verification.matched) == set(planted.mistakes), said
