from rldebug.rules.buffer.reward_of_another_step import RewardOfAnotherStep
from tests.judge import fires, quiet
from tests.rules.ladders import chances, ladder, passed, values


def test_fires_where_neither_values_nor_actions_are_learned():
    found = fires(
        RewardOfAnotherStep(),
        ladder(
            passed("constant-reward"), values("observed-reward", [0.03, -0.05]), chances("action-reward", [0.4, 0.6])
        ),
    )
    assert "rung 4" in found.seen


def test_quiet_where_the_action_is_learned():
    quiet(
        RewardOfAnotherStep(),
        ladder(passed("constant-reward", "action-reward"), values("observed-reward", [0.03, -0.05])),
    )


def test_quiet_where_the_policy_depends_on_the_critic():
    quiet(
        RewardOfAnotherStep(),
        ladder(values("observed-reward", [0.03, -0.05]), chances("action-reward", [0.4, 0.6]), lam=None),
    )
