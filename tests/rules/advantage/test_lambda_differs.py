from rldebug.rules.advantage.lambda_differs import LambdaDiffers
from tests.judge import fires, quiet
from tests.rules.ladders import ladder, passed, values


def test_fires_where_values_tell_another_lambda():
    found = fires(LambdaDiffers(), ladder(values("aliased-fork", [0.45, 0.45, 0.5])))
    assert "upper 0.45" in found.seen


def test_quiet_where_it_passed():
    quiet(LambdaDiffers(), ladder(passed("aliased-fork")))
