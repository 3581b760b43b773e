from __future__ import annotations

import pytest

from rldebug.rules.preprocessing.picture_divided_twice import PictureDividedTwice
from tests.programs.data import found, seen
from tests.programs.pictures import pictures
from tests.watched import watched


def test_fires_on_pictures_as_dark_as_that() -> None:
    (finding,) = PictureDividedTwice().check(pictures(1 / 255))
    assert "0.0039" in finding.seen


@pytest.mark.parametrize("high", [1.0, 255.0, 0.3])
def test_quiet_on_pictures_that_can_be_seen(high: float) -> None:
    assert not list(PictureDividedTwice().check(pictures(high)))


def test_fires_on_a_program_that_does_so() -> None:
    assert found(PictureDividedTwice(), seen(watched, "pictures", "twice"))


def test_quiet_on_the_same_program_without_it() -> None:
    assert not found(PictureDividedTwice(), seen(watched, "pictures"))


def test_fires_where_a_wrapper_has_scaled_before() -> None:
    (finding,) = PictureDividedTwice().check(pictures(0.65 / 255, shares=0.65))
    assert "0.0025" in finding.seen


@pytest.mark.parametrize(("high", "shares"), [(0.65, 0.65), (0.05 / 255, 0.05), (0.02, 2.0), (0.3, 1.0)])
def test_quiet_on_shares_that_are_not_divided_again(high: float, shares: float) -> None:
    assert not list(PictureDividedTwice().check(pictures(high, shares=shares)))
