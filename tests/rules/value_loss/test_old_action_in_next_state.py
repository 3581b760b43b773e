from rldebug.rules.value_loss.old_action_in_next_state import OldActionInNextState
from tests.judge import fires, quiet
from tests.programs.actor_critic import script

rule = OldActionInNextState()


def test_fires_on_the_action_of_the_step():
    assert "1024 of 1024 rows" in fires(rule, script(old_action=True)).seen


def test_quiet_on_the_policys_action():
    quiet(rule, script())
