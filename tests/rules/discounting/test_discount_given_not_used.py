import pytest

from rldebug.rules.discounting.discount_given_not_used import DiscountGivenNotUsed
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        def returns(rewards, gamma=0.99):
            out, total = [], 0
            for r in reversed(rewards):
                total = r + total  # here
                out.insert(0, total)
            return out
        """,
        """
        DECAY = 0.95
        class Agent:
            def to_go(self, rewards, decay):
                g = 0.0
                result = [0.0] * len(rewards)
                for t in reversed(range(len(rewards))):
                    g += rewards[t]  # here
                    result[t] = g
                return result
            def learn(self):
                return self.to_go(self.rewards, DECAY)
        """,
    ],
)
def test_fires_where_the_discount_is_left_out(code):
    points_at(DiscountGivenNotUsed(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        def returns(rewards, gamma=0.99):
            out, total = [], 0
            for r in reversed(rewards):
                total = r + gamma * total
                out.insert(0, total)
        """,
        """
        def to_go(rewards):
            out, total = [], 0
            for r in reversed(rewards):
                total += r
                out.insert(0, total)
        """,
        """
        def to_go(rewards, name="run", size=32):
            out, total = [], 0
            for r in reversed(rewards):
                total += r
                out.insert(0, total)
        """,
        """
        def totals(rewards, gamma=0.99):
            out, total = [], 0
            for r in rewards:
                total += r
                out.append(total)
        """,
    ],
)
def test_quiet_about_sums_with_a_discount_or_without_one_to_use(code):
    quiet(DiscountGivenNotUsed(), text(code))
