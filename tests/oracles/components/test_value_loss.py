"""The critic's loss."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rldebug.oracles.components.value_loss import VALUE_LOSS, reference, variant


def test_gradient_is_what_torch_says():
    for case in VALUE_LOSS.cases():
        value = torch.tensor(case["value"], requires_grad=True)
        old, goal, clip = torch.tensor(case["old_value"]), torch.tensor(case["return"]), case["clip"]
        kept = old + (value - old).clamp(-clip, clip)
        each = torch.max((value - goal) ** 2, (kept - goal) ** 2) * torch.tensor(case["mask"])
        (case["coef"] * 0.5 * each.sum() / case["mask"].sum()).backward()
        np.testing.assert_allclose(variant(case)["grad:value"], value.grad.numpy(), err_msg=case.name)


def test_variant_is_reference_on_the_ladder():
    for case in VALUE_LOSS.cases():
        for name, right in reference(case).items():
            np.testing.assert_allclose(variant(case)[name], right, err_msg=f"{case.name}: {name}", atol=1e-9)


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_variant_is_reference_on_drawn_cases(data):
    case = VALUE_LOSS.drawn(data.draw)
    for name, right in reference(case).items():
        np.testing.assert_allclose(variant(case)[name], right, atol=1e-9)
