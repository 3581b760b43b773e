import pytest

from rldebug.rules.policy_loss.actor_seeks_low_value import ActorSeeksLowValue
from tests.judge import fires, not_enough, quiet
from tests.programs.actor_critic import script

rule = ActorSeeksLowValue()


def test_fires_where_the_loss_grows_with_the_value():
    assert "8 backward passes" in fires(rule, script(actor="low")).seen


@pytest.mark.parametrize("how", [{}, {"unnamed": True}, {"judges": ("q1",)}])
def test_fires_where_a_method_of_the_critic_is_asked_that_calls_its_layers(how):
    seen = fires(rule, script(actor="low", layers=("q1", "q2"), **how)).seen
    assert "8 backward passes" in seen
    assert how.get("unnamed") or ".head" not in seen


@pytest.mark.parametrize("how", [{}, {"unnamed": True}, {"judges": ("q1",)}])
def test_quiet_where_a_method_of_the_critic_says_what_is_sought(how):
    quiet(rule, script(layers=("q1", "q2"), **how))


def test_the_layers_of_a_critic_that_is_cut_off_make_no_passes_into_the_actor():
    not_enough(rule, script(layers=("q1", "q2"), cut=True))


def test_quiet_where_the_value_is_sought():
    quiet(rule, script())


def test_declines_on_too_few_passes():
    not_enough(rule, script(audits=1, updates=2, actor="low"))
