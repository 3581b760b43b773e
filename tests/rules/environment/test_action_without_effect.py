import math

from rldebug.evidence.env_play import Effects, EnvPlay
from rldebug.rules.environment.action_without_effect import ActionWithoutEffect
from tests.judge import fires, not_enough, quiet


def boxed(*idle, tries=100):
    return EnvPlay("x", actions=math.inf, effects=Effects(tries, ("action[0]", "action[1]"), idle=idle))


def chosen(*same, tries=120):
    return EnvPlay("x", actions=3, effects=Effects(tries, ("0", "1", "2"), same=same))


def test_fires_on_a_dimension_that_changes_nothing():
    found = fires(ActionWithoutEffect(), boxed("action[1]"))
    assert found.severity == "warning"
    assert found.message == "action[1] changes nothing"


def test_fires_as_a_note_on_two_actions_that_do_the_same():
    found = fires(ActionWithoutEffect(), chosen(("0", "2")))
    assert found.severity == "note"
    assert "0 and 2" in found.seen


def test_quiet_when_every_dimension_does_something():
    quiet(ActionWithoutEffect(), boxed())


def test_quiet_when_every_action_differs_from_the_others():
    quiet(ActionWithoutEffect(), chosen())


def test_quiet_when_no_action_does_anything():
    """That is another fault, with a rule of its own."""
    quiet(ActionWithoutEffect(), chosen(("0", "1", "2")))


def test_declines_on_a_few_states():
    not_enough(ActionWithoutEffect(), chosen(("0", "2"), tries=20))
