import pytest

from rldebug.rules.exploration.decay_without_effect import DecayWithoutEffect
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        EPS, DECAY = 1.0, 0.995
        def train(agent, env):
            eps = EPS
            for episode in range(100):
                a = agent.act(obs, EPS)
                eps = max(0.05, eps * DECAY)  # here
        """,
        """
        def decay(rate):
            rate *= 0.99  # here
        decay(1.0)
        """,
        """
        class Trainer:
            def run(self):
                noise = 0.3
                for episode in range(100):
                    self.play(self.noise)
                    noise = max(0.01, noise - 0.001)  # here
        """,
    ],
)
def test_fires_where_nobody_reads_it(code):
    points_at(DecayWithoutEffect(), code)


@pytest.mark.parametrize(
    "code",
    [
        "eps = 1.0\nfor e in range(9):\n    a = act(obs, eps)\n    eps = max(0.05, eps * 0.99)",
        "def decay(rate):\n    rate *= 0.99\n    return rate",
        "def decay():\n    global eps\n    eps *= 0.99",
        "self.eps = max(0.05, self.eps * 0.99)",
        "def scale(x):\n    x *= 0.5\n    return x",
        "x = x * 2.0",
        "def fade(trace):\n    trace *= 0.9\n",
        """
        eps = 1.0
        def act(obs):
            return random() < eps
        for e in range(9):
            eps = max(0.05, eps * 0.99)
        """,
    ],
)
def test_quiet_about_numbers_that_are_read(code):
    quiet(DecayWithoutEffect(), text(code))
