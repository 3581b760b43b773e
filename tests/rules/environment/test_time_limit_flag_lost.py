import gymnasium
import pytest

from rldebug.rules.environment.time_limit_flag_lost import TimeLimitFlagLost
from tests.judge import fires, not_enough, quiet
from tests.programs.worlds import Line, learn, script
from tests.watched import watched

rule = TimeLimitFlagLost()


class Merged(gymnasium.Wrapper):
    def step(self, action):
        obs, reward, terminated, truncated, info = self.env.step(action)
        return obs, reward, terminated or truncated, False, info


def limited(wrapper):
    env = gymnasium.wrappers.TimeLimit(Line(), 4)
    return watched(lambda: learn(wrapper(env), steps=60))[1]


def stream(**more):
    lengths = [20] * 10 + [7, 12]
    return {"facts": {"time_limit": 20}, "lengths": lengths, "terminated": [True] * 12, **more}


def test_fires_where_a_wrapper_merges_the_flags():
    found = fires(rule, limited(Merged))
    assert found.component == "environment"
    assert "limit of 4 steps" in found.seen


def test_quiet_where_both_flags_are_handed_on():
    quiet(rule, limited(gymnasium.Wrapper))


@pytest.mark.parametrize(
    "more",
    [
        {"terminated": [False] * 10 + [True] * 2, "truncations": 10},
        {"facts": {"time_limit": 20, "api": "4-tuple"}},
        {"lengths": [20, 7, 12], "terminated": [True] * 3},
    ],
)
def test_quiet_where_a_flag_says_more_or_too_few_got_there(more):
    quiet(rule, script(stream(**more)))


def test_fires_on_evidence_by_hand():
    fires(rule, script(stream()))


def test_not_enough_without_a_limit():
    assert "limit" in not_enough(rule, script({}))


def test_fires_where_an_adapter_drops_the_discount_of_dm_env():
    found = fires(rule, script(stream(facts={"cuts_untold": 6})))
    assert "discount above 0" in found.seen


def test_quiet_where_an_adapter_hands_cuts_on():
    quiet(rule, script(stream(facts={"cuts_told": 6, "time_limit": 99})))
