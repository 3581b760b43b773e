import pytest

from rldebug.rules.discounting.goals_swapped import GoalsSwapped
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        "r = env.compute_reward(obs['desired_goal'], nxt['achieved_goal'], info)  # here",
        """
        class Relabel:
            def reward(self, batch):
                wanted = batch["next_obs"]["desired_goal"]
                reached = batch["next_obs"]["achieved_goal"]
                return self.env.unwrapped.compute_reward(wanted, reached, {})  # here
        """,
        "r = env.compute_reward(achieved_goal=o['desired_goal'], desired_goal=o['achieved_goal'], info=None)  # here",
    ],
)
def test_fires_where_the_desired_goal_comes_first(code):
    points_at(GoalsSwapped(), code)


@pytest.mark.parametrize(
    "code",
    [
        "r = env.compute_reward(obs['achieved_goal'], obs['desired_goal'], info)",
        "r = env.compute_reward(desired_goal=o['desired_goal'], achieved_goal=o['achieved_goal'], info=None)",
        "r = env.compute_reward(reached, wanted, info)",
        "r = env.compute_reward(obs['achieved_goal'], future['achieved_goal'], info)",
        "r = distance(obs['desired_goal'], obs['achieved_goal'])",
    ],
)
def test_quiet_about_goals_in_order(code):
    quiet(GoalsSwapped(), text(code))
