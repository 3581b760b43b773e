from __future__ import annotations

import pytest

from rldebug.oracles.components.gae import GAE
from rldebug.oracles.names import forms, meant, plain


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("rewards", "reward"),
        ("b_rewards", "reward"),
        ("reward_batch", "reward"),
        ("batchRewards", "reward"),
        ("_rews", "reward"),
        ("vals", "value"),
        ("state_values", "value"),
        ("dones", "done"),
        ("is_first", "episode_start"),
        ("not_dones", "mask"),
        ("terminations", "terminated"),
        ("gae_lambda", "lam"),
        ("discount_factor", "gamma"),
    ],
)
def test_names_of_the_common_codebases_are_understood(name, first):
    assert meant(name, GAE.quantities)[0].name == first


@pytest.mark.parametrize("name", ["foo", "logits", "x", "widget_count"])
def test_names_nobody_uses_for_it_mean_nothing(name):
    assert meant(name, GAE.quantities) == []


def test_a_name_may_mean_several_things_likeliest_first():
    assert [each.name for each in meant("next_values", GAE.quantities)][:2] == ["next_value", "last_value"]


def test_words_are_joined_and_stripped():
    assert plain("__nextValue_") == "next_value"
    assert next(iter(forms("b_obs"))) == "b_obs"
    assert "obs" in forms("b_obs")
    assert "los" not in forms("loss")  # no plural
