from __future__ import annotations

import pytest

from rldebug.rules.preprocessing.picture_reaches_layer_unscaled import PictureReachesLayerUnscaled
from tests.programs.pictures import pictures


def test_fires_on_bytes() -> None:
    (finding,) = PictureReachesLayerUnscaled().check(pictures(255.0))
    assert finding.seen.startswith("elements up to 255")


@pytest.mark.parametrize(("high", "low"), [(1.0, 0.0), (1.0, -1.0), (127.0, -128.0)])
def test_quiet_on_scaled_and_centred_pictures(high: float, low: float) -> None:
    assert not list(PictureReachesLayerUnscaled().check(pictures(high, low)))
