import pytest

from rldebug.rules.target_network.blend_weights_do_not_add_up import BlendWeightsDoNotAddUp
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "blend",
    [
        "t.data.copy_(tau * p.data + tau * t.data)",
        "t.data.copy_(tau * p.data + 1 - tau * t.data)",
        "t.data = p.data * tau + t.data * (1 + tau)",
        "t.data.copy_(p.data + (1 - tau) * t.data)",
        "t.data.copy_(0.005 * p.data + 0.95 * t.data)",
        "t.data.mul_(1 - tau).add_(p.data, alpha=1 - tau)",
    ],
)
def test_fires_where_equal_weights_would_not_stay_equal(blend):
    points_at(
        BlendWeightsDoNotAddUp(),
        f"""
        def follow(target, online, tau):
            for t, p in zip(target.parameters(), online.parameters()):
                {blend}  # here
        """,
    )


def test_fires_on_state_dicts_too():
    points_at(
        BlendWeightsDoNotAddUp(),
        """
        class Agent:
            def follow(self):
                old, new = self.slow.state_dict(), self.fast.state_dict()
                for key in new:
                    old[key] = self.tau * new[key] + (1 - self.tau * old[key])  # here
                self.slow.load_state_dict(old)
        """,
    )


@pytest.mark.parametrize(
    "blend",
    [
        "t.data.copy_(tau * p.data + (1 - tau) * t.data)",
        "t.data.copy_(t.data + tau * (p.data - t.data))",
        "t.data.copy_(t.data * (1.0 - tau) + p.data * tau)",
        "t.data.lerp_(p.data, tau)",
        "t.data.mul_(1 - tau); t.data.add_(tau * p.data)",
        "t.data.copy_(p.data)",
        "t.data.copy_(p.data + noise * torch.randn_like(p))",
        "p.data.copy_(p.data - lr * p.grad)",
    ],
)
def test_quiet_about_blends_that_add_up(blend):
    quiet(
        BlendWeightsDoNotAddUp(),
        text(
            f"""
            def follow(target, online, tau):
                for t, p in zip(target.parameters(), online.parameters()):
                    {blend}
            """
        ),
    )


def test_quiet_about_rates_that_are_worked_out_elsewhere():
    code = """
        def follow(target, online, keep, tau=0.01):
            for t, p in zip(target.parameters(), online.parameters()):
                t.data.copy_(keep * t.data + tau * p.data)
    """
    quiet(BlendWeightsDoNotAddUp(), text(code))
