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
