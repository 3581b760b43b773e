from rldebug.rules.network.nonfinite_on_a_probe import NonfiniteOnAProbe
from tests.judge import fires, quiet
from tests.rules.ladders import ladder, values


def test_fires_on_values_that_are_not_finite():
    found = fires(NonfiniteOnAProbe(), ladder(values("constant-reward", [0.4], reason="value(obs) is not finite")))
    assert "not finite" in found.seen


def test_quiet_on_finite_ones():
    quiet(NonfiniteOnAProbe(), ladder(values("constant-reward", [0.4])))
