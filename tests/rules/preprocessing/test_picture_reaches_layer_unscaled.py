from __future__ import annotations

import pytest

from rldebug.rules.preprocessing.picture_reaches_layer_unscaled import PictureReachesLayerUnscaled
from tests.programs.data import found, seen
from tests.programs.pictures import pictures
from tests.watched import watched


def test_fires_on_bytes() -> None:
    (finding,) = PictureReachesLayerUnscaled().check(pictures(255.0))
    assert finding.seen.startswith("elements up to 255")


@pytest.mark.parametrize(("high", "low"), [(1.0, 0.0), (1.0, -1.0), (127.0, -128.0)])
def test_quiet_on_scaled_and_centred_pictures(high: float, low: float) -> None:
    assert not list(PictureReachesLayerUnscaled().check(pictures(high, low)))


def test_fires_on_a_program_that_does_so() -> None:
    assert found(PictureReachesLayerUnscaled(), seen(watched, "pictures", "unscaled"))


def test_quiet_on_the_same_program_without_it() -> None:
    assert not found(PictureReachesLayerUnscaled(), seen(watched, "pictures"))
