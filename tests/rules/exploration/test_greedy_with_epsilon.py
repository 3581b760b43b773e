import pytest

from rldebug.rules.exploration.greedy_with_epsilon import GreedyWithEpsilon
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        import math, random
        HIGH, LOW, SLOW = 0.9, 0.05, 500
        def choose(net, space, x, k):
            draw = random.random()
            chance = LOW + (HIGH - LOW) * math.exp(-k / SLOW)
            if draw < chance:  # here
                return net(x).max(1)[1]
            return space.sample() if False else random.randrange(4)
        """,
        """
        import random
        EPS = 0.1
        def act(q, obs, n):
            if random.random() < EPS:  # here
                return q(obs).argmax().item()
            return random.randrange(n)
        """,
        """
        import numpy as np
        class Agent:
            def choose(self, obs):
                if np.random.rand() > self.epsilon:  # here
                    action = self.env.action_space.sample()
                else:
                    action = int(np.argmax(self.table[obs]))
                return action
            def decay(self):
                self.epsilon = max(0.01, self.epsilon * 0.995)
        """,
        """
        import torch
        eps = 1.0
        while True:
            best = q(obs).argmax()
            a = q(obs).argmax() if torch.rand(1).item() < eps else env.action_space.sample()  # here
            eps -= 1e-4
        """,
    ],
)
def test_fires_where_the_branches_are_swapped(code):
    points_at(GreedyWithEpsilon(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        import math, random
        HIGH, LOW, SLOW = 0.05, 0.9, 500
        def choose(net, x, k):
            sure = LOW + (HIGH - LOW) * math.exp(-k / SLOW)
            if random.random() < sure:
                return net(x).max(1).indices
            return random.randrange(4)
        """,
        """
        import random
        eps = 0.1
        a = env.action_space.sample() if random.random() < eps else q(obs).argmax()
        """,
        """
        import random
        eps = 1.0
        if random.random() > eps:
            a = q(obs).argmax()
        else:
            a = random.randrange(4)
        eps *= 0.99
        """,
        """
        import random
        greed = 0.9
        a = q(obs).argmax() if random.random() < greed else env.action_space.sample()
        """,
        """
        import random
        def act(p):
            if random.random() < p:
                return q(obs).argmax()
            return random.randrange(4)
        """,
        """
        import random
        drop = 0.1
        if random.random() < drop:
            x = q(obs).argmax()
        else:
            x = q(obs).max()
        """,
    ],
)
def test_quiet_about_random_actions_with_epsilon(code):
    quiet(GreedyWithEpsilon(), text(code))
