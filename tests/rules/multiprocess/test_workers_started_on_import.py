import pytest

from rldebug.rules.multiprocess.workers_started_on_import import WorkersStartedOnImport
from tests.judge import quiet
from tests.rules.sources import points_at, text

HEAD = """
import gymnasium as gym
import torch.multiprocessing as mp
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv

"""


@pytest.mark.parametrize(
    ("code", "severity"),
    [
        ("envs = SubprocVecEnv([make for _ in range(8)])  # here\nPPO('MlpPolicy', envs).learn(1000)", "error"),
        ("def main():\n    envs = make_vec_env('Pong', 8, vec_env_cls=SubprocVecEnv)  # here\nmain()", "error"),
        ("def work(rank): ...\nmp.spawn(work, nprocs=4)  # here", "error"),
        ("mp.set_start_method('spawn')\nfor rank in range(4):\n    mp.Process(target=work).start()  # here", "error"),
        ("envs = gym.vector.AsyncVectorEnv([make] * 4)  # here", "note"),
    ],
)
def test_fires_where_the_guard_is_missing(code, severity):
    assert points_at(WorkersStartedOnImport(), HEAD + code).severity == severity


@pytest.mark.parametrize(
    "code",
    [
        "if __name__ == '__main__':\n    envs = SubprocVecEnv([make] * 4)",
        "def main():\n    envs = SubprocVecEnv([make] * 4)\nif __name__ == '__main__':\n    main()",
        "def build():\n    return SubprocVecEnv([make] * 4)",
        "envs = SubprocVecEnv([make] * 4, start_method='fork')",
        "envs = DummyVecEnv([make] * 4)",
        "makers = [lambda: SubprocVecEnv([make])]",
        "mp.set_start_method('fork')\nmp.Process(target=work).start()",
        "envs = make_vec_env('Pong', 8)",
    ],
)
def test_quiet_where_it_is_there_or_not_needed(code):
    quiet(WorkersStartedOnImport(), text(HEAD + code))
