"""The loss of Q-learning, and where its gradient goes."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rldebug.oracles.components.dqn_loss import DQN_LOSS, reference, variant


def test_gradient_is_what_torch_says():
    case = DQN_LOSS.cases()[7].but(n=1)
    online = torch.tensor(np.concatenate([case["q"], case["next_q_online"]]), requires_grad=True)
    target = torch.tensor(variant_target(case))
    loss = ((online[:3][range(3), case["action"]] - target) ** 2 * torch.tensor(case["weight"])).mean()
    loss.backward()
    np.testing.assert_allclose(variant(case)["online_gradient"], online.grad.numpy())


def variant_target(case):
    return case["reward"] + case["gamma"] * ~case["terminated"] * case["next_q"].max(axis=1)


def test_gradient_of_a_network_is_found_in_the_graph():
    case = DQN_LOSS.told(DQN_LOSS.cases()[6], frozenset({"q_net", "obs"}))
    by_name = {each.name: each for each in DQN_LOSS.quantities}
    network = by_name["q_net"].take(case)
    values = network(torch.tensor(by_name["obs"].take(case)))
    seen = DQN_LOSS.observe({}, values.sum())
    assert seen["online_gradient"].tolist() == [[1] * 3] * 3 + [[0] * 3] * 3
    assert DQN_LOSS.observe({}, torch.ones(1)) is None


def test_variant_is_reference_on_the_ladder():
    for case in DQN_LOSS.cases():
        for name, right in reference(case).items():
            np.testing.assert_allclose(variant(case)[name], right, err_msg=f"{case.name}: {name}", atol=1e-9)


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_variant_is_reference_on_drawn_cases(data):
    case = DQN_LOSS.drawn(data.draw)
    for name, right in reference(case).items():
        np.testing.assert_allclose(variant(case)[name], right, atol=1e-9)
