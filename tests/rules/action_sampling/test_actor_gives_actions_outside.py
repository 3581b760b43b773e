from rldebug.evidence.script import Script
from rldebug.rules.action_sampling.actor_gives_actions_outside import ActorGivesActionsOutside
from tests.judge import fires, not_enough, quiet
from tests.programs.actor_critic import script

rule = ActorGivesActionsOutside()


def bounded(low, high, **how):
    seen = script(**how)
    facts = {"action_space": "Box", "action_low": [low] * 2, "action_high": [high] * 2}
    return Script(seen.audits, {**seen.things, "stream": {"0": {**seen.things["stream"]["0"], "facts": facts}}})


def test_fires_where_the_bounds_are_to_one_side():
    assert "beyond the bounds 0 and 2" in fires(rule, bounded(0.0, 2.0)).seen


def test_quiet_where_all_fits():
    quiet(rule, bounded(-1.0, 1.0))


def test_declines_after_one_stretch():
    not_enough(rule, bounded(0.0, 2.0, audits=1, updates=2))
