import pytest

from rldebug.rules.discounting.sum_carried_forwards import SumCarriedForwards
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        def returns(rewards, gamma):
            out, total = [], 0
            for r in rewards:  # here
                total = r + gamma * total
                out.append(total)
            return out
        """,
        """
        class Memory:
            def finish(self):
                running = 0.0
                for t in range(len(self.rewards)):  # here
                    running = running * self.gamma * (1 - self.ends[t]) + self.rewards[t]
                    self.returns[t] = running
        """,
        """
        def gae(rewards, values, ends):
            advantages = []
            a = 0
            for t in range(len(rewards)):  # here
                delta = rewards[t] + 0.99 * values[t + 1] * (1 - ends[t]) - values[t]
                a = delta + 0.99 * 0.95 * (1 - ends[t]) * a
                advantages.insert(0, a)
            return advantages
        """,
        """
        g = 0
        for reward, end in zip(rewards, ends):  # here
            g *= GAMMA
            g += reward
            targets.append(g)
        """,
        """
        import torch

        def loss(rewards, log_probs, gamma):
            total, kept = 0.0, []
            for r in rewards:  # here
                total = r + gamma * total
                kept.append(total)
            kept = torch.tensor(kept)
            kept = (kept - kept.mean()) / (kept.std() + 1e-8)
            return -(torch.stack(log_probs) * kept).mean()
        """,
        """
        class Scale:
            def add(self, x):
                self.spread = x.std()

        def advantages(deltas, log_probs, scale, decay):
            for _ in range(10):
                last = 0.0
                for t in range(len(deltas)):  # here
                    last = deltas[t] + decay * last
                    out[t] = last
                scale.add(out)
                learn(log_probs * out / scale.spread)
        """,
    ],
)
def test_fires_where_the_past_is_summed(code):
    points_at(SumCarriedForwards(), code)


@pytest.mark.parametrize(
    "code",
    [
        "for r in reversed(rewards):\n    g = r + gamma * g\n    out.insert(0, g)",
        "for r in rewards[::-1]:\n    g = r + gamma * g\n    out.append(g)\nout = out[::-1]",
        "for t in range(n - 1, -1, -1):\n    g = r[t] + gamma * g\n    out[t] = g",
        "rewards.reverse()\nfor r in rewards:\n    g = r + gamma * g\n    out.append(g)",
        "flipped = np.flip(rewards)\nfor r in flipped:\n    g = r + gamma * g\n    out.append(g)",
        "for i in range(n):\n    t = n - 1 - i\n    g = r[t] + gamma * g\n    out[t] = g",
        "for x in scores:\n    mean = 0.9 * mean + 0.1 * x\n    smooth.append(mean)",
        "for r in rewards:\n    total = total + r\n    totals.append(total)",
        "for r in rewards:\n    g = g * gamma + r\n    seen.append(g)\nscale = np.std(seen)",
        "for t in range(n):\n    noise = 0.9 * noise + rng.normal()\n    out.append(noise)",
        "for r in rewards:\n    g = r + gamma * g",
    ],
)
def test_quiet_about_sums_from_behind_and_other_sums(code):
    quiet(SumCarriedForwards(), text(code))


CURIOUS = """
    import numpy as np

    class Moments:
        def __init__(self):
            self.mean, self.var, self.count = 0.0, 1.0, 1e-4

        def add(self, x):
            n, mean, var = len(x), x.mean(0), x.var(0)
            self.mean, self.var, self.count = mean, var, self.count + n

    def train(world, net, moments):
        {first}
        for _ in range(40):
            {then}
            bonus, sums = rollout(world, net), np.zeros((128, 8))
            for t in range(128):
                past = 0.99 * past + bonus[t]
                sums[t] = past
            moments.add(sums.ravel())
            learn(net, bonus / np.sqrt(moments.var + 1e-8))
    """


def test_quiet_where_the_sums_only_give_a_scale_for_bonuses():
    quiet(SumCarriedForwards(), text(CURIOUS.format(first="past = np.zeros(8)", then="pass")))
    quiet(SumCarriedForwards(), text(CURIOUS.format(first="pass", then="past = np.zeros(8)")))


@pytest.mark.parametrize(
    "code",
    [
        """
        import numpy as np
        rng = np.random.default_rng(0)

        def coloured(steps, keep):
            white, x, out = rng.normal(size=(steps, 2)), np.zeros(2), np.zeros((steps, 2))
            for t in range(steps):
                x = keep * x + white[t]
                out[t] = x
            return out
        """,
        """
        import torch
        from torch import nn

        class LinearMemory(nn.Module):
            def forward(self, rows):
                h, out, given = 0.0, [], self.first(rows)
                for t in range(len(given)):
                    h = self.decay * h + given[t]
                    out.append(h)
                return torch.stack(out)
        """,
        """
        seen = []
        obs, _ = env.reset()
        for _ in range(100):
            seen.append(obs)
            obs, r, terminated, truncated, _ = env.step(act(obs))
        trace, traces = 0.0, []
        for t in range(len(seen)):
            trace = 0.9 * trace + seen[t]
            traces.append(trace)
        weights += sum(d * e for d, e in zip(errors, traces))
        """,
        """
        past = 0.0
        for rewards in rollouts():
            for t in range(len(rewards)):
                past = 0.99 * past + rewards[t]
                smooth[t] = past
            draw(smooth)
        """,
        """
        def smooth(scores, keep):
            y, out = 0.0, []
            for i, x in enumerate(scores):
                y = x + keep * y
                out.append(y * (1 - keep) / (1 - keep ** (i + 1)))
            return out
        """,
        """
        import matplotlib.pyplot as plt

        def trend(scores):
            y, out = 0.0, []
            for x in scores:
                y = x + 0.9 * y
                out.append(y)
            return out

        print(round(trend(history)[-1], 1), f"{trend(history)[0]:.3f}")
        plt.plot(trend(history))
        """,
    ],
)
def test_quiet_about_sums_that_are_no_returns(code):
    quiet(SumCarriedForwards(), text(code))
