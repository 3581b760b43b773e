import gymnasium

from rldebug.rules.environment.time_limit_taken_off import TimeLimitTakenOff
from tests.judge import fires, not_enough, quiet
from tests.programs.worlds import learn, script
from tests.watched import watched

rule = TimeLimitTakenOff()
POLE = {"facts": {"registered_limit": 20, "time_limit": None}}


def test_fires_where_the_environment_is_taken_out_of_its_wrappers():
    gymnasium.register("Short-v0", "gymnasium.envs.classic_control:MountainCarEnv", max_episode_steps=5)
    try:
        found = fires(rule, watched(lambda: learn(gymnasium.make("Short-v0").unwrapped, steps=60))[1])
        assert found.severity == "warning"
        assert "after 5 steps" in found.expected
        quiet(rule, watched(lambda: learn(gymnasium.make("Short-v0"), steps=60))[1])
    finally:
        del gymnasium.registry["Short-v0"]


def test_fires_as_a_note_where_episodes_are_longer():
    assert fires(rule, script({**POLE, "lengths": [15, 90]})).severity == "note"


def test_quiet_where_the_loop_counts_for_itself():
    quiet(rule, script({**POLE, "lengths": [], "resets": 50}))
    quiet(rule, script({**POLE, "lengths": [15, 20]}))


def test_not_enough_without_a_registered_limit():
    assert "registered" in not_enough(rule, script({"lengths": [9000]}))
