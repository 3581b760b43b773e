from rldebug.rules.environment.ended_episode_stepped import EndedEpisodeStepped
from tests.judge import fires, not_enough, quiet
from tests.programs.worlds import Line, learn, script
from tests.watched import watched

rule = EndedEpisodeStepped()


def test_fires_where_nothing_is_reset():
    found = fires(rule, watched(lambda: learn(again=lambda env: None, steps=80))[1])
    assert found.component == "environment"
    assert found.severity == "error"
    assert "terminated" in found.seen


def test_fires_where_the_time_limit_is_not_looked_at():
    lengths = [50, *[1] * 30, 50, *[1] * 30]
    seen = script({"lengths": lengths, "stepped_after_end": 60, "resets": 2, "steps": 160, "truncations": 62})
    assert "truncated" in fires(rule, seen).seen


def test_quiet_where_it_is_reset():
    quiet(rule, watched(lambda: learn(Line(), steps=60))[1])


def test_quiet_where_the_environment_resets_itself():
    quiet(rule, script({"lengths": [20] * 40, "stepped_after_end": 39, "resets": 1, "steps": 800}))
    seen = {"lengths": [1, 20] * 40, "stepped_after_end": 79, "resets": 1, "steps": 840}
    quiet(rule, script({**seen, "facts": {"resets_itself": True}}))
    quiet(rule, script(seen))


def test_quiet_on_bandits_which_need_no_reset():
    quiet(rule, script({"lengths": [1] * 100, "stepped_after_end": 99, "resets": 1, "steps": 100}))


def test_not_enough_without_an_end():
    assert "end" in not_enough(rule, script({}))
