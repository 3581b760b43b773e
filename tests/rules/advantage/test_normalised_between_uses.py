import pytest

from rldebug.rules.advantage.normalised_between_uses import NormalisedBetweenUses
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        import torch
        s1 = ratio * adv
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)  # here
        s2 = torch.clamp(ratio, 0.8, 1.2) * adv
        loss = -torch.min(s1, s2).mean()
        """,
        """
        import torch
        class Ppo:
            def loss(self, ratio, weight):
                plain = -weight * ratio
                if self.normalise:
                    weight = (weight - weight.mean()) / weight.std()  # here
                held = -weight * ratio.clamp(1 - self.eps, 1 + self.eps)
                return torch.maximum(plain, held).mean()
        """,
    ],
)
def test_fires_where_it_is_normalised_in_between(code):
    points_at(NormalisedBetweenUses(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        import torch
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        s1 = ratio * adv
        s2 = torch.clamp(ratio, 0.8, 1.2) * adv
        loss = -torch.min(s1, s2).mean()
        """,
        """
        import torch
        if normalise:
            adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        loss = -torch.min(ratio * adv, torch.clamp(ratio, 0.8, 1.2) * adv).mean()
        """,
        """
        import torch
        for adv in batches:
            adv = (adv - adv.mean()) / adv.std()
            s1 = ratio * adv
            s2 = clipped * adv
            loss = -torch.min(s1, s2).mean()
        """,
    ],
)
def test_quiet_about_one_scale(code):
    quiet(NormalisedBetweenUses(), text(code))
