import pytest

from rldebug.target import TargetError
from rldebug.testing import assert_passes_probes, verify
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


def sound(rewards, gamma):
    out, running = [0.0] * len(rewards), 0.0
    for t in reversed(range(len(rewards))):
        out[t] = running = rewards[t] + gamma * running
    return out


def undiscounted(rewards, gamma):
    return sound(rewards, 1.0)


def test_a_sound_function_is_verified():
    assert verify("discounted-return", sound).exit == 0


def test_a_wrong_one_fails_with_the_smallest_case_in_words():
    with pytest.raises(AssertionError, match="is not discounted-return: discounted-return-gamma-missing") as raised:
        verify("discounted-return", undiscounted, drawn=0)
    said = str(raised.value)
    assert "the smallest case" in said
    assert "◀ the first that differs" in said
    assert "\x1b[" not in said


def test_what_cannot_be_verified_is_no_failed_assertion():
    with pytest.raises(TargetError, match="no component called"):
        verify("gea", sound)
    with pytest.raises(TargetError, match="it takes nothing that could be reward"):
        verify("discounted-return", lambda gamma: gamma)
    assert verify("discounted-return", sound, map={"reward": "rewards"}).exit == 0
