from rldebug.rules.entropy.certainty_rewarded import CertaintyRewarded
from tests.judge import fires, not_enough, quiet
from tests.programs.actor_critic import script

rule = CertaintyRewarded()


def test_fires_on_a_log_prob_with_a_minus():
    assert "-0.2 in 8 of 8" in fires(rule, script(factor=-0.2)).seen


def test_quiet_on_a_log_prob_with_a_plus():
    quiet(rule, script())


def test_declines_without_a_log_prob():
    not_enough(rule, script(factor=None))
