from rldebug.rules.optimizer.cleared_and_never_stepped import ClearedAndNeverStepped
from tests.judge import fires, quiet
from tests.programs.actor_critic import script

rule = ClearedAndNeverStepped()


def test_fires_where_it_never_steps():
    assert "step() never" in fires(rule, script(alpha_steps=0)).seen


def test_quiet_where_all_step():
    quiet(rule, script())
