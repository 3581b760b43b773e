"""What is clipped: the ratio, or its product with the advantage."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from rldebug.capture.loss_terms import terms_of
from rldebug.evidence.script import Script
from rldebug.rules.policy_loss.surrogate_clipped_not_ratio import SurrogateClippedNotRatio
from tests.programs.losses_made import script, term


def loss(product: bool) -> Tensor:
    torch.manual_seed(0)
    logits = nn.Linear(4, 3)(torch.randn(32, 4))
    dist = torch.distributions.Categorical(logits=logits)
    action, advantage = torch.randint(3, (32,)), torch.randn(32)
    new = dist.log_prob(action)  # type: ignore[no-untyped-call]
    ratio = torch.exp(new - new.detach() - 0.1 * torch.randn(32))
    clipped = torch.clamp(ratio * advantage, 0.8, 1.2) if product else torch.clamp(ratio, 0.8, 1.2) * advantage
    return -torch.min(ratio * advantage, clipped).mean()


def made(product: bool) -> Script:
    (found,) = terms_of(loss(product))
    given: dict[str, Any] = {"nested": found.nested, "bounded": found.bounded, "clip": found.clip}
    return script([[[term(1, number, **given)]] for number in range(4)])


def test_fires_a_clipped_product_is_found() -> None:
    assert len(list(SurrogateClippedNotRatio().check(made(True)))) == 1


def test_quiet_a_clipped_ratio_is_fine() -> None:
    assert list(SurrogateClippedNotRatio().check(made(False))) == []
