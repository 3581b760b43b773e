from rldebug.rules.entropy.target_entropy_out_of_reach import TargetEntropyOutOfReach
from tests.judge import fires, not_enough, quiet
from tests.programs.actor_critic import script

rule = TargetEntropyOutOfReach()


def test_fires_on_a_positive_target():
    assert "target entropy 2" in fires(rule, script(temperature="right", target_entropy=2)).seen


def test_quiet_on_the_usual_target():
    quiet(rule, script(temperature="right"))


def test_declines_where_the_sign_is_turned_anyway():
    not_enough(rule, script(temperature="wrong", target_entropy=2))
