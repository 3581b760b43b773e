import pytest

from rldebug.testing import assert_passes_probes
from tests.probes.tabular import Tabular

FEW = ["constant-reward", "observed-reward"]


def test_a_sound_agent_passes():
    report = assert_passes_probes(Tabular, probes=FEW)
    assert report.exit == 0


def test_a_broken_one_fails_with_the_ladder_in_words():
    with pytest.raises(AssertionError, match="does not pass its probes: observed-reward failed") as raised:
        assert_passes_probes(lambda make_env: Tabular(make_env, wrong="blind"), probes=FEW)
    said = str(raised.value)
    assert "✓ passed" in said
    assert "\x1b[" not in said


def test_undecided_fails_only_when_strict():
    few_steps = {"probes": ["constant-reward"], "steps": 100}
    slow = lambda make_env: Tabular(make_env, lr=1e-5)  # noqa: E731
    assert_passes_probes(slow, **few_steps)
    with pytest.raises(AssertionError, match="constant-reward undecided"):
        assert_passes_probes(slow, strict=True, **few_steps)
