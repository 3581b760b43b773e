from rldebug.rules.advantage.advantage_leaks_over_reset import AdvantageLeaksOverReset
from tests.judge import fires, quiet
from tests.rules.ladders import ladder, values


def test_fires_with_a_lambda():
    found = fires(
        AdvantageLeaksOverReset(), ladder(values("leaking-return", [0.7, -0.7, 1.0], matched=["return-leaks"]))
    )
    assert "x+ 0.70" in found.seen


def test_quiet_without_a_lambda():
    quiet(
        AdvantageLeaksOverReset(),
        ladder(values("leaking-return", [0.7, -0.7, 1.0], matched=["return-leaks"]), lam=None),
    )


def test_quiet_where_nothing_leaks():
    quiet(AdvantageLeaksOverReset(), ladder(values("leaking-return", [0.0, 0.0, 0.5])))
