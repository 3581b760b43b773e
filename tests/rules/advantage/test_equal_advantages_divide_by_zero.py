from rldebug.rules.advantage.equal_advantages_divide_by_zero import EqualAdvantagesDivideByZero
from tests.judge import fires, quiet
from tests.rules.ladders import ladder, values


def test_fires_with_a_lambda_and_equal_rewards():
    found = fires(
        EqualAdvantagesDivideByZero(), ladder(values("constant-reward", [0.4], reason="value(obs) is not finite"))
    )
    assert "not finite" in found.seen


def test_quiet_without_a_lambda():
    quiet(
        EqualAdvantagesDivideByZero(), ladder(values("constant-reward", [0.4], reason="q(obs) is not finite"), lam=None)
    )
