import pytest

from rldebug.evidence.source import parsed, together
from rldebug.rules.evaluation.never_in_evaluation_mode import NeverInEvaluationMode
from tests.judge import fires, quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        import gymnasium as gym
        import torch
        import torch.nn as nn
        class Policy(nn.Module):
            def __init__(self):
                super().__init__()
                self.body = nn.Sequential(nn.Linear(4, 64), nn.Dropout(0.5), nn.ReLU(), nn.Linear(64, 2))
            def forward(self, x):
                return self.body(x)
        policy = Policy()
        env = gym.make("CartPole-v1")
        obs, _ = env.reset()
        while True:
            with torch.no_grad():
                action = policy(torch.as_tensor(obs)).argmax().item()  # here
            obs, reward, terminated, truncated, _ = env.step(action)
        """,
        """
        import torch
        from torch import nn
        class Agent:
            def __init__(self):
                self.q = nn.Sequential(nn.Linear(4, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 2))
            def act(self, obs):
                with torch.no_grad():
                    return self.q(torch.as_tensor(obs)[None]).argmax(1).item()  # here
        def play(env, agent):
            agent = Agent()
            obs, _ = env.reset()
            while True:
                obs, reward, terminated, truncated, _ = env.step(agent.act(obs))
        """,
    ],
)
def test_fires_where_the_mode_is_never_switched(code):
    points_at(NeverInEvaluationMode(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        import torch
        from torch import nn
        net = nn.Sequential(nn.Linear(4, 64), nn.Dropout(0.1), nn.Linear(64, 2))
        def play(env):
            net.eval()
            obs, _ = env.reset()
            obs, reward, terminated, truncated, _ = env.step(net(obs).argmax().item())
        """,
        """
        import torch
        from torch import nn
        net = nn.Sequential(nn.Linear(4, 64), nn.LayerNorm(64), nn.Linear(64, 2))
        def play(env):
            obs, _ = env.reset()
            obs, reward, terminated, truncated, _ = env.step(net(obs).argmax().item())
        """,
        """
        import torch
        from torch import nn
        model = nn.Sequential(nn.Linear(4, 64), nn.Dropout(0.1), nn.Linear(64, 2))
        net = nn.Linear(4, 2)
        def play(env):
            obs, _ = env.reset()
            guess = model(obs)
            obs, reward, terminated, truncated, _ = env.step(net(obs).argmax().item())
        """,
    ],
)
def test_quiet_where_it_is_or_does_not_matter(code):
    quiet(NeverInEvaluationMode(), text(code))


ACTS = """
import gymnasium as gym
import torch
from torch import nn
from judged import judge
policy = nn.Sequential(nn.Linear(4, 64), nn.Dropout(0.5), nn.Linear(64, 2))
env = gym.make("CartPole-v1")
obs, _ = env.reset()
while True:
    obs, reward, terminated, truncated, _ = env.step(policy(torch.as_tensor(obs)).argmax().item())
"""


def test_quiet_where_another_file_of_the_program_switches():
    acts, judge = parsed(ACTS, "train.py"), parsed("def judge(net):\n    net.eval()\n", "judged.py")
    stranger = parsed("def play(net):\n    net.eval()\n", "played.py")
    quiet(NeverInEvaluationMode(), together([acts, judge, stranger])[0])
    fires(NeverInEvaluationMode(), together([acts, stranger])[0])
