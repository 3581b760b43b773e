"""γ of the advantages against γ of the returns."""

from __future__ import annotations

import pytest

from rldebug.rule import NotEnough
from rldebug.rules.advantage.advantage_discount_differs import AdvantageDiscountDiffers
from tests.forensics.simulated import gae, returns
from tests.programs.formulas import found, on_policy


def test_fires_another_discount_is_found() -> None:
    seen = on_policy(lambda of: returns(of, 0.95), lambda of: gae(of, 1.0, 0.9) - of.value[:-1])
    assert "by 1, returns by 0.95" in found(AdvantageDiscountDiffers(), seen)[0].message


def test_quiet_the_same_discount_is_fine() -> None:
    seen = on_policy(lambda of: returns(of, 0.95), lambda of: gae(of, 0.95, 0.9) - of.value[:-1])
    assert found(AdvantageDiscountDiffers(), seen) == []


def test_quiet_without_advantages_nothing_is_said() -> None:
    with pytest.raises(NotEnough):
        found(AdvantageDiscountDiffers(), on_policy(gae))
