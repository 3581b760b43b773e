from __future__ import annotations

import torch

from rldebug.oracles.components.ppo_loss import PPO_LOSS, cases
from tests.oracles.components.policy_oracles import assert_mistakes_differ, assert_variant_is_reference


def test_variant_is_the_reference():
    assert_variant_is_reference(PPO_LOSS)


def test_every_mistake_shows_and_differs_from_the_others():
    assert_mistakes_differ(PPO_LOSS)


def test_the_reference_agrees_with_torch():
    for case in cases():
        if "dual_clip" in case.needs or not case["mask"].all():
            continue
        ratio = torch.tensor(case["logp"] - case["old_logp"]).exp()
        advantage = torch.tensor(case["advantage"])
        surrogate = torch.min(ratio * advantage, ratio.clamp(1 - case["clip"], 1 + case["clip"]) * advantage)
        assert abs(-surrogate.mean().item() - float(PPO_LOSS.reference(case)["loss"])) < 1e-9
