from rldebug.rules.evaluation.crashes_on_a_probe import CrashesOnAProbe
from tests.judge import fires, quiet
from tests.rules.ladders import ladder, values


def test_fires_where_training_raises():
    found = fires(
        CrashesOnAProbe(),
        ladder(values("constant-reward", [0.4], outcome="crashed", reason="KeyError: final_observation")),
    )
    assert "KeyError" in found.seen


def test_quiet_where_it_could_not_be_made():
    quiet(CrashesOnAProbe(), ladder(values("constant-reward", [0.4], outcome="not applicable")))
