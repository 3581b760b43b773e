import pytest

from rldebug.rules.optimizer.budget_divided_by_environments import BudgetDividedByEnvironments
from tests.judge import quiet
from tests.rules.sources import points_at, text

HEAD = """
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import SubprocVecEnv

"""
MADE = "env = make_vec_env('Rail-v0', n_envs=opt.lanes)\nmodel = PPO('MlpPolicy', env)\n"


@pytest.mark.parametrize(
    "code",
    [
        MADE + "model.learn(total_timesteps=opt.steps // opt.lanes)  # here",
        "env = SubprocVecEnv([make(i) for i in range(CORES)])\nPPO('MlpPolicy', env).learn(int(1e6 / CORES))  # here",
        "env = make_vec_env('Rail-v0', 8)\nmodel.learn(100_000 // env.num_envs, callback=report)  # here",
    ],
)
def test_fires_where_it_is_divided(code):
    points_at(BudgetDividedByEnvironments(), HEAD + code)


@pytest.mark.parametrize(
    "code",
    [
        MADE + "model.learn(total_timesteps=opt.steps)",
        MADE + "model.learn(opt.steps // 10)",
        MADE + "model.learn(opt.rounds * opt.length * opt.lanes // opt.lanes)",
        MADE + "EvalCallback(test, eval_freq=max(5000 // opt.lanes, 1))",
    ],
)
def test_quiet_where_it_is_not(code):
    quiet(BudgetDividedByEnvironments(), text(HEAD + code))


def test_quiet_where_another_library_learns():
    quiet(BudgetDividedByEnvironments(), text("model.learn(steps // env.num_envs)"))
