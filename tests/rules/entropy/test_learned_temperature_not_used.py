from rldebug.rules.entropy.learned_temperature_not_used import LearnedTemperatureNotUsed
from tests.judge import fires, not_enough, quiet
from tests.programs.actor_critic import script

rule = LearnedTemperatureNotUsed()


def test_fires_where_the_factor_stands_still():
    assert "stayed 0.2" in fires(rule, script(temperature="right", updates=8)).seen


def test_declines_without_a_log_prob_in_the_loss():
    not_enough(rule, script(temperature="right", factor=None, updates=8))


def test_quiet_where_the_factor_moves():
    from dataclasses import replace

    seen = script(temperature="right", updates=8)
    for audit in seen.audits:
        for place, term in enumerate(audit.terms("output")):
            term.detail["coefficient"] = 0.2 - 0.001 * place  # type: ignore[index]
    quiet(rule, replace(seen))
