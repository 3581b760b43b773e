"""The target of Q-learning."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rldebug.oracles.components.dqn_target import DQN_TARGET, reference, variant


def case(name):
    (found,) = (each for each in DQN_TARGET.cases() if each.name == name)
    return found.but(n=1)


def test_by_hand():
    assert reference(case("two rows, the first terminates"))["target"].tolist() == [3, -2 + 0.5 * 12]


def test_double_takes_the_action_of_the_online_values():
    double = case("two rows").but(double=True)
    assert reference(double)["target"].tolist() == [3 + 0.5 * 4, -2 + 0.5 * 6]
    assert variant(case("two rows"), double=True)["target"].tolist() == reference(double)["target"].tolist()


def test_with_one_network_that_is_both():
    told = DQN_TARGET.told(case("two rows"), frozenset({"q_net", "next_obs", "reward"}))
    assert told["next_q"].tolist() == told["next_q_online"].tolist() == case("two rows")["next_q_online"].tolist()


def test_networks_give_the_values_of_the_tables():
    three = case("three rows")
    by_name = {each.name: each for each in DQN_TARGET.quantities}
    observations = torch.tensor(by_name["next_obs"].take(three), dtype=torch.float32)
    assert by_name["target_net"].take(three)(observations).tolist() == three["next_q"].tolist()
    assert by_name["q_net"].take(three).predict(observations.numpy()).tolist() == three["next_q_online"].tolist()


def test_variant_is_reference_on_the_ladder():
    for case in DQN_TARGET.cases():
        for name, right in reference(case).items():
            np.testing.assert_allclose(variant(case)[name], right, err_msg=f"{case.name}: {name}", atol=1e-9)


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_variant_is_reference_on_drawn_cases(data):
    case = DQN_TARGET.drawn(data.draw)
    for name, right in reference(case).items():
        np.testing.assert_allclose(variant(case)[name], right, atol=1e-9)
