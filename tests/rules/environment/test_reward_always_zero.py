from rldebug.evidence.run import Run
from rldebug.rules.environment.reward_always_zero import RewardAlwaysZero
from tests.judge import fires, not_enough, quiet


def returns(low, high, count=10.0, **more):
    return {"episode/count": [count] * 5, "episode/return_min": low, "episode/return_max": high, **more}


def test_fires_when_every_return_is_zero():
    run = Run.from_series(returns([0.0] * 5, [0.0] * 5, **{"episode/reward_sum": [0.0] * 5}))
    assert "50 episodes" in fires(RewardAlwaysZero(), run).seen


def test_quiet_when_one_episode_found_the_reward():
    quiet(RewardAlwaysZero(), Run.from_series(returns([0.0] * 5, [0.0, 0.0, 0.0, 1.0, 0.0])))


def test_quiet_when_rewards_cancel_over_an_episode():
    run = Run.from_series(returns([0.0] * 5, [0.0] * 5, **{"reward/min": [-1.0] * 5, "reward/max": [1.0] * 5}))
    quiet(RewardAlwaysZero(), run)


def test_quiet_when_the_agent_lives_on_a_reward_of_its_own():
    run = Run.from_series(returns([0.0] * 5, [0.0] * 5, **{"reward/min": [0.01] * 5, "reward/max": [0.3] * 5}))
    quiet(RewardAlwaysZero(), run)


def test_declines_on_a_few_episodes():
    not_enough(RewardAlwaysZero(), Run.from_series(returns([0.0] * 5, [0.0] * 5, count=2.0)))
