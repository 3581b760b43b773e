import pytest

from rldebug.rules.action_sampling.mask_times_infinity import MaskTimesInfinity
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        import numpy as np
        def best(q, mask):
            return (q - np.inf * (1 - mask)).argmax()  # here
        """,
        """
        import torch
        def masked(logits, legal):
            shut = (legal == 0).float()
            return logits + shut * float("-inf")  # here
        """,
        """
        HUGE = float("inf")
        def best(q, legal):
            return (q - HUGE * (~legal).float()).argmax(-1)  # here
        """,
        """
        import math
        import torch
        class Policy:
            def __init__(self, n):
                self.blocked = torch.zeros(n)
            def scores(self, x):
                return x - self.blocked * math.inf  # here
        """,
    ],
)
def test_fires_on_masks(code):
    points_at(MaskTimesInfinity(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        HUGE = 1e9
        def best(q, legal):
            return (q - HUGE * (~legal).float()).argmax(-1)
        """,
        """
        import numpy as np
        low = -1 * np.inf
        """,
        """
        import torch
        x = torch.full((3,), float('inf')) * 2
        """,
        """
        import numpy as np
        high = np.inf * np.ones(3)
        """,
        """
        import torch
        def f(x, mask):
            return x.masked_fill(mask, float('-inf'))
        """,
        """
        import torch
        def f(x, mask):
            return x - mask * 1e9
        """,
        """
        import numpy as np
        best = sign * np.inf
        """,
        """
        import torch
        mask = torch.triu(torch.ones(4, 4) * float('-inf'), diagonal=1)
        """,
    ],
)
def test_quiet_about_numbers_and_fills(code):
    quiet(MaskTimesInfinity(), text(code))
