import pytest

from rldebug.rules.target_network.weight_bound_not_written import WeightBoundNotWritten
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        def soft_update(target, online, tau):
            for t, p in zip(target.parameters(), online.parameters()):
                t = tau * p + (1 - tau) * t  # here
        """,
        """
        class Agent:
            def follow(self):
                with torch.no_grad():
                    for (_, new), (_, old) in zip(self.net.named_parameters(), self.ema.named_parameters()):
                        old = old * 0.99 + new * 0.01  # here
        """,
        """
        mine, theirs = list(slow.parameters()), list(fast.parameters())
        for i, (a, b) in enumerate(zip(mine, theirs)):
            a = b.clone()  # here
        """,
    ],
)
def test_fires_where_the_variable_of_the_loop_is_bound_anew(code):
    points_at(WeightBoundNotWritten(), code)


@pytest.mark.parametrize(
    "code",
    [
        "for t, p in zip(a.parameters(), b.parameters()):\n    t.data = tau * p.data + (1 - tau) * t.data",
        "for t, p in zip(a.parameters(), b.parameters()):\n    t.data.copy_(p)",
        "for t, p in zip(a.parameters(), b.parameters()):\n    t = t.data\n    t.copy_(p.data)",
        "for t, p in zip(a.parameters(), b.parameters()):\n    t += p",
        "for name, value in zip(names, values):\n    value = value * 2",
        "for p in net.parameters():\n    p = p.detach()",
        """
        for t, p in zip(a.parameters(), b.parameters()):
            p = p.to(device)
            t.data.copy_(p)
        """,
    ],
)
def test_quiet_about_weights_that_are_written(code):
    quiet(WeightBoundNotWritten(), text(code))
