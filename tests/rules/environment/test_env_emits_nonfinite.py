from rldebug.evidence.env_contract import EnvContract, Misfit
from rldebug.rules.environment.env_emits_nonfinite import EnvEmitsNonfinite
from tests.judge import fires, quiet

NAN = Misfit("obs[1]", "NaN", "a finite number", "step()", 4, 20, 900)
INF = Misfit("obs[0]", "inf", "a finite number", "step()", 1, 900, 900)


def test_fires_on_nan_before_infinity():
    found = fires(EnvEmitsNonfinite(), EnvContract("e", nonfinite=(INF, NAN)))
    assert found.severity == "error"
    assert "obs[1]" in found.message


def test_fires_as_a_warning_on_infinity():
    assert fires(EnvEmitsNonfinite(), EnvContract("e", nonfinite=(INF,))).severity == "warning"


def test_quiet_when_all_numbers_are_finite():
    quiet(EnvEmitsNonfinite(), EnvContract("e", steps=4000))
