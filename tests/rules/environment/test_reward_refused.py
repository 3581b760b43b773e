from rldebug.rules.environment.reward_refused import RewardRefused
from tests.judge import quiet
from tests.rules.crashes import crashed, names, saying


def test_fires_when_the_reward_is_nan():
    names(RewardRefused(), crashed(saying(UserWarning("The reward is a NaN value."))))


def test_fires_when_the_reward_is_an_array():
    text = (
        "The reward returned by `step()` must be a float, int, np.integer or np.floating, actual type: <class 'list'>"
    )
    assert "a list" in names(RewardRefused(), crashed(saying(UserWarning(text)))).message


def test_quiet_when_the_observation_is_refused():
    text = "The obs returned by the `step()` method is not within the observation space."
    quiet(RewardRefused(), crashed(saying(UserWarning(text))))
