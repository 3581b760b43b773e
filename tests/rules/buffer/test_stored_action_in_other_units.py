from rldebug.rules.buffer.stored_action_in_other_units import StoredActionInOtherUnits
from tests.judge import fires, not_enough, quiet
from tests.programs.actor_critic import script

rule = StoredActionInOtherUnits()


def test_fires_where_half_of_the_action_is_stored():
    assert "stored: 0.5 times the executed action" in fires(rule, script(unit=0.5)).seen


def test_quiet_where_the_executed_action_is_stored():
    quiet(rule, script())


def test_declines_on_few_rows():
    not_enough(rule, script(audits=1, updates=0))
