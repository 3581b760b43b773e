from __future__ import annotations

import numpy as np
import pytest

from rldebug.evidence.script import Event, Script
from rldebug.rules.preprocessing.picture_divided_twice import PictureDividedTwice
from tests.judge import fires, quiet
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


def in_parts(high: float, beside: float) -> Script:
    """A picture in bytes, and two numbers beside it."""
    made = pictures(high, shares=255.0)
    inputs = [{"shape": [16, 2], "dtype": "torch.float32"}, {"shape": [16, 2, 8, 8], "dtype": "torch.uint8"}]
    detail = {"module": "net", "match": "parts", "inputs": inputs, "grad": True}
    (audit,) = made.audits
    call = Event(0, "call", 0, 0, detail, {"narrow": np.full((16, 2), beside)})
    audit.__dict__["events"] = (call, *audit.events)
    return made


def test_fires_on_bytes_that_are_a_part_of_the_observation() -> None:
    fires(PictureDividedTwice(), in_parts(1 / 255, 0.5))


@pytest.mark.parametrize(("high", "beside"), [(1.0, 0.5), (1 / 255, 200.0)])
def test_quiet_where_it_can_be_seen_or_what_is_bright_lies_beside_it(high: float, beside: float) -> None:
    quiet(PictureDividedTwice(), in_parts(high, beside))
