"""The target of soft actor-critic."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rldebug.oracles.components.sac_target import SAC_TARGET, reference, variant


def test_by_hand():
    case = SAC_TARGET.cases()[5].but(n=1)
    assert reference(case)["target"].tolist() == [3, -2 + 0.5 * (5 - 0.25 * 0.75)]


def test_networks_give_the_values_of_the_arrays():
    case = SAC_TARGET.cases()[6]
    by_name = {each.name: each for each in SAC_TARGET.quantities}
    observations = torch.tensor(by_name["next_obs"].take(case))
    action, logp = by_name["actor"].take(case).action_log_prob(observations)
    first, second = by_name["target_twins"].take(case)(observations, action)
    assert logp[:, 0].tolist() == case["next_logp"].tolist()
    assert first[:, 0].tolist() == case["next_q1"].tolist()
    assert second[:, 0].tolist() == case["next_q2"].tolist()
    flat = by_name["target_critic1 flat"].take(case)
    assert flat(torch.cat([observations, action], dim=1)).tolist() == case["next_q1"].tolist()


def test_variant_is_reference_on_the_ladder():
    for case in SAC_TARGET.cases():
        for name, right in reference(case).items():
            np.testing.assert_allclose(variant(case)[name], right, err_msg=f"{case.name}: {name}", atol=1e-9)


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_variant_is_reference_on_drawn_cases(data):
    case = SAC_TARGET.drawn(data.draw)
    for name, right in reference(case).items():
        np.testing.assert_allclose(variant(case)[name], right, atol=1e-9)
