"""What algorithms of Stable-Baselines3 compute is worked out from what they do: kind of target, γ, λ, steps."""

import sys
from pathlib import Path

import pytest
from tests.watched import watched

from rldebug.config import Config
from rldebug.diagnose import diagnose
from rldebug.forensics.targets import fit_targets, fit_weights

pytest.importorskip("stable_baselines3", reason="Stable-Baselines3 is in the extra `sb3`, which is not installed")
pytestmark = [pytest.mark.filterwarnings("ignore")]

PROGRAMS = Path(__file__).parents[2] / "bench" / "programs" / "identify"


@pytest.fixture(scope="module")
def make():
    sys.path.insert(0, str(PROGRAMS))
    try:
        import sb3

        yield sb3.MAKE
    finally:
        sys.path.remove(str(PROGRAMS))


def identified(make, name, steps):
    run, script = watched(lambda: make[name][0]().learn(steps))
    loud = [each for each in diagnose([run, script], config=Config()).findings if each.severity != "note"]
    assert not loud, [each.message for each in loud]
    return fit_targets(script), fit_weights(script)


@pytest.mark.parametrize(
    ("name", "steps", "lam"),
    [("ppo-norm", 1536, 0.91), ("a2c", 640, 0.93), pytest.param("recurrent-ppo", 768, 0.91, marks=pytest.mark.slow)],
)
def test_advantages(make, name, steps, lam):
    if name == "recurrent-ppo":
        pytest.importorskip("sb3_contrib", reason="sb3-contrib is in the extra `sb3`, which is not installed")
    (fit,), (weights,) = identified(make, name, steps)
    assert (fit.name, fit.mistake) == ("gae", "")
    assert fit.gamma == pytest.approx(0.97, abs=1e-4)
    assert fit.lam == pytest.approx(lam, abs=1e-3)
    assert fit.rightly("terminated")
    assert weights.of == "advantage"


@pytest.mark.parametrize(("name", "steps", "n"), [("dqn-n-step", 1000, 3), ("qr-dqn", 700, 1)])
def test_values_of_actions(make, name, steps, n):
    if name == "qr-dqn":
        pytest.importorskip("sb3_contrib", reason="sb3-contrib is in the extra `sb3`, which is not installed")
    (fit,), _ = identified(make, name, steps)
    assert fit.name.startswith("max of")
    assert fit.gamma == pytest.approx(0.96, abs=1e-4)
    assert fit.n == n


@pytest.mark.parametrize("name", ["sac-norm", pytest.param("td3", marks=pytest.mark.slow)])
def test_values_of_continuous_actions(make, name):
    fits, _ = identified(make, name, 300)
    assert len(fits) == 2
    for fit in fits:
        assert fit.name.startswith("min ")
        assert fit.gamma == pytest.approx(0.95, abs=1e-4)
        assert (fit.entropy is not None) == (name == "sac-norm")
