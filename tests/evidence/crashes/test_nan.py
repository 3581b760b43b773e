import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical, Normal

from tests.rules.crashes import crashed


def end(*_):
    raise ValueError("the loss is NaN")


def test_the_first_is_the_one_whose_parts_are_finite():
    def program():
        rewards = np.zeros(4)
        with np.errstate(all="ignore"):
            scaled = rewards / rewards.std()
        returns = scaled.cumsum()
        end(returns)

    nan = crashed(program).nan
    assert (nan["name"], nan["by"]) == ("scaled", ["a standard deviation", "a division"])
    assert nan["source"] == "scaled = rewards / rewards.std()"
    assert nan["place"] == f"test_nan.py:{nan['line']}"


def test_a_name_that_is_assigned_twice_is_blamed_where_it_can_become_nan():
    def program():
        adv = torch.ones(1)
        adv = adv / (adv - 1).sqrt() * 0
        end(adv)

    assert crashed(program).nan["by"] == ["a square root", "a division"]


def test_an_environment_that_gives_it_is_told():
    class Env(gym.Env):
        def step(self, action):
            return np.full(2, np.nan), 0.0, False, False, {}

        def reset(self, *, seed=None, options=None):
            return np.zeros(2), {}

    def program():
        env = Env()
        obs, _ = env.reset()
        obs, reward, terminated, truncated, info = env.step(0)
        end(obs, reward, terminated, truncated, info)

    nan = crashed(program).nan
    assert (nan["name"], nan["environment"], nan["network"]) == ("obs", True, False)
    assert "env.step" in nan["source"]


def test_what_a_function_is_given_is_followed_to_its_caller():
    def act(policy, obs):
        mean = policy(obs)
        return Normal(mean, 1.0)

    def program():
        policy, raw = nn.Linear(2, 1), torch.zeros(3, 2)
        obs = raw / raw.norm()
        act(policy, obs)

    nan = crashed(program).nan
    assert (nan["name"], nan["by"]) == ("obs", ["a division"])


def test_a_loss_that_spoiled_the_weights_is_told():
    def program():
        policy = nn.Linear(2, 2)
        optimizer = torch.optim.SGD(policy.parameters(), lr=0.01)
        loss = (policy(torch.ones(3, 2)) * 0).log().mean() * 0
        loss.backward()
        optimizer.step()
        logits = policy(torch.ones(3, 2))
        return Categorical(logits=logits)

    nan = crashed(program).nan
    assert (nan["name"], nan["by"]) == ("loss", ["a logarithm"])


def test_none_is_told_where_all_is_finite_or_infinity_is_meant():
    def program():
        best, logits = -float("inf"), torch.full((2,), -torch.inf)
        end(best, logits)

    assert crashed(program).nan is None


def test_code_without_a_source_is_passed_over():
    names: dict[str, object] = {"torch": torch}
    assert crashed(lambda: exec("x = torch.zeros(2) / 0\nraise ValueError('NaN')", names)).nan is None


def test_a_standard_deviation_of_many_finite_numbers_is_not_blamed():
    def program():
        gains = torch.full((6, 2), 1e30)
        adv = gains * gains - gains * gains  # infinity less infinity
        adv = (adv - adv.mean()) / (adv.std() + 1e-6)
        gains = None
        end(adv)

    told = crashed(program).nan
    assert told is None or "a standard deviation" not in told["by"]


def test_a_squared_error_that_overflows_has_grown():
    def program():
        policy = nn.Linear(2, 2)
        optimizer = torch.optim.SGD(policy.parameters(), lr=0.01)
        loss = (policy(torch.ones(3, 2)) * 1e30).pow(2).mean()
        loss.backward()
        optimizer.step()
        return Categorical(logits=policy(torch.ones(3, 2)))

    nan = crashed(program).nan
    assert (nan["odd"], nan["by"], nan["grown"]) == ("inf", [], True)
