"""The Huber loss."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rldebug.oracles.components.huber import HUBER, reference, variant


def test_it_is_that_of_torch():
    for case in HUBER.cases():
        given_ = torch.tensor(case["prediction"]), torch.tensor(case["target"])
        huber = torch.nn.functional.huber_loss(*given_, delta=case["delta"]).item()
        smooth = torch.nn.functional.smooth_l1_loss(*given_, beta=case["delta"]).item()
        np.testing.assert_allclose(variant(case)["loss"], huber)
        np.testing.assert_allclose(variant(case, scale="smooth-l1")["loss"], smooth)


def test_variant_is_reference_on_the_ladder():
    for case in HUBER.cases():
        for name, right in reference(case).items():
            np.testing.assert_allclose(variant(case)[name], right, err_msg=f"{case.name}: {name}", atol=1e-9)


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_variant_is_reference_on_drawn_cases(data):
    case = HUBER.drawn(data.draw)
    for name, right in reference(case).items():
        np.testing.assert_allclose(variant(case)[name], right, atol=1e-9)
