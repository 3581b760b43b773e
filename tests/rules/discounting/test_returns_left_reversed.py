import pytest

from rldebug.rules.discounting.returns_left_reversed import ReturnsLeftReversed
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        def returns(rewards, gamma):
            out, total = [], 0
            for r in reversed(rewards):
                total = r + gamma * total
                out.append(total)  # here
            return torch.tensor(out)
        """,
        """
        class Agent:
            def finish(self):
                g = 0
                targets = []
                for t in range(len(self.rewards) - 1, -1, -1):
                    g = self.rewards[t] + self.gamma * g
                    targets.append(g)  # here
                loss = 0
                for logp, target in zip(self.logps, targets):
                    loss -= logp * target
                return loss
        """,
    ],
)
def test_fires_where_the_last_step_stays_first(code):
    finding = points_at(ReturnsLeftReversed(), code)
    assert ".insert(0, " in finding.edits[0].text


@pytest.mark.parametrize(
    "code",
    [
        "out = []\nfor r in reversed(rewards):\n    g = r + gamma * g\n    out.insert(0, g)\nuse(out)",
        "out = []\nfor r in reversed(rewards):\n    g = r + gamma * g\n    out.append(g)\nout.reverse()\nuse(out)",
        "out = []\nfor r in rewards[::-1]:\n    g = r + gamma * g\n    out.append(g)\nuse(out[::-1])",
        "out = []\nfor r in reversed(rewards):\n    g = r + gamma * g\n    out.append(g)\nuse(list(reversed(out)))",
        "out = deque()\nfor r in reversed(rewards):\n    g = r + gamma * g\n    out.appendleft(g)\nuse(out)",
        "out = []\nfor r in reversed(rewards):\n    g = r + gamma * g\n    out.append(g)\nprint(sum(out))",
        """
        out, scores = [], []
        for r, logp in zip(reversed(rewards), reversed(logps)):
            g = r + gamma * g
            out.append(g)
            scores.append(logp)
        use(out, scores)
        """,
        "for t in reversed(range(n)):\n    g = r[t] + gamma * g\n    out[t] = g\nuse(out)",
        """
        out = []
        for r in reversed(rewards):
            g = r + gamma * g
            out.append(g)
        for logp, g in zip(reversed(logps), out):
            loss = loss - logp * g
        """,
        """
        out = []
        for r in reversed(rewards):
            g = r + gamma * g
            out.append(g)
        for logp in logps:
            loss = loss - logp * out.pop()
        """,
        """
        import numpy as np

        class Scale:
            def see(self, x):
                self.mean, self.spread = x.mean(), x.std()

        def scaled(rewards, gamma, scale):
            g, out = 0.0, []
            for r in rewards[::-1]:
                g = r + gamma * g
                out.append(g)
            scale.see(np.array(out))
            return np.array(rewards) / scale.spread
        """,
    ],
)
def test_quiet_about_lists_in_the_right_order(code):
    quiet(ReturnsLeftReversed(), text(code))
