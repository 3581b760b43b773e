from rldebug.rules.entropy.temperature_moves_the_wrong_way import TemperatureMovesTheWrongWay
from tests.judge import fires, not_enough, quiet
from tests.programs.actor_critic import script

rule = TemperatureMovesTheWrongWay()


def test_fires_where_the_sign_is_turned():
    assert "+1 times the mean log-prob" in fires(rule, script(temperature="wrong")).seen


def test_quiet_where_it_is_right():
    quiet(rule, script(temperature="right"))


def test_declines_without_a_temperature():
    not_enough(rule, script())
