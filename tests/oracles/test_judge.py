"""The engine, on functions that are hard to judge. What oracles find is in tests/test_planted_functions.py."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from rldebug.oracles.bind import SignatureError
from rldebug.oracles.compare import close
from rldebug.oracles.components.gae import GAE
from rldebug.oracles.judge import judge
from rldebug.oracles.verification import verification_of


def sound(rewards, values, dones, last_value, gamma, lam):
    out, acc, following = torch.zeros_like(rewards), 0.0, last_value
    for t in reversed(range(len(rewards))):
        acc = rewards[t] + gamma * following * (1 - dones[t]) - values[t] + gamma * lam * (1 - dones[t]) * acc
        out[t], following = acc, values[t]
    return out


# ── what cannot be judged ───────────────────────────────────────────────────────────────────────────────────────────


def test_a_signature_nobody_understands_says_what_is_known_and_how_to_say_it():
    def strange(foo, bar, baz, qux, quux):
        return foo

    found = verification_of(strange, GAE)
    assert found.outcome == "unusable"
    assert "no telling what foo, bar, baz, qux, quux are" in found.reason
    assert "--map reward=foo" in found.reason
    assert GAE.example in found.reason


def test_what_it_lacks_is_told():
    found = verification_of(lambda rewards, gamma: rewards, GAE)
    assert found.outcome == "unusable"
    assert "nothing that could be value" in found.reason


def test_one_that_raises_however_it_is_called_tells_what_and_where():
    def broken(rewards, values, dones, last_value, gamma, lam):
        raise ZeroDivisionError("of course")

    found = verification_of(broken, GAE)
    assert found.outcome == "unusable"
    assert "ZeroDivisionError: of course" in found.reason
    assert f"line {broken.__code__.co_firstlineno + 1}" in found.reason


def test_one_that_hangs_is_stopped():
    def endless(rewards, values, dones, last_value, gamma, lam):
        while True:
            pass

    found = verification_of(endless, GAE)
    assert found.outcome == "unusable"
    assert "did not come back within" in found.reason


def test_what_is_no_function_is_told():
    found = verification_of(3.0, GAE)
    assert found.outcome == "unusable"
    assert "float is a float, expected a function" in found.reason


def test_a_mapping_that_names_nothing_is_refused():
    with pytest.raises(SignatureError, match="takes no r; its arguments are rewards"):
        judge(sound, GAE, {"reward": "r"})
    with pytest.raises(SignatureError, match="gae knows no banana"):
        judge(sound, GAE, {"banana": "rewards"})


# ── what is wrong without being a known mistake ─────────────────────────────────────────────────────────────────────


def test_one_that_draws_at_random_is_told():
    def dice(rewards, values, dones, last_value, gamma, lam):
        return sound(rewards, values, dones, last_value, gamma, lam) + torch.randn(())

    found = verification_of(dice, GAE)
    assert found.outcome == "wrong"
    assert found.message == "it gives different answers for the same inputs"


def test_another_shape_is_told():
    def everything(rewards, values, dones, last_value, gamma, lam):
        return sound(rewards, values, dones, last_value, gamma, lam).flatten()[:, None, None].expand(-1, 2, 2)

    found = verification_of(everything, GAE)
    assert found.outcome == "wrong"
    assert found.message == "it returns another shape than expected"
    assert "shape (" in found.seen


def test_one_that_raises_on_some_cases_is_told_with_the_case():
    def picky(rewards, values, dones, last_value, gamma, lam):
        if dones.any():
            raise RuntimeError("no ends, please")
        return sound(rewards, values, dones, last_value, gamma, lam)

    found = verification_of(picky, GAE)
    assert found.outcome == "wrong"
    assert "it raises on" in found.message
    assert "no ends, please" in found.seen
    assert found.table is not None


def test_a_mistake_that_the_ladder_does_not_show_is_found_by_drawing():
    def wrong_far_away(rewards, values, dones, last_value, gamma, lam):
        out = sound(rewards, values, dones, last_value, gamma, lam)
        return out + (rewards == -4).sum()  # no fixed case has such a reward

    found = verification_of(wrong_far_away, GAE)
    assert found.outcome == "wrong"
    assert found.table is not None
    assert found.table.case == "drawn at random"
    assert len(found.table.rows) == 1  # shrunk
    assert verification_of(wrong_far_away, GAE, drawn=0).outcome == "right"


# ── what is right, with a remark ────────────────────────────────────────────────────────────────────────────────────


def test_inputs_are_never_the_callers_and_writing_into_them_is_noted():
    def rude(rewards, values, dones, last_value, gamma, lam):
        out = sound(rewards, values, dones, last_value, gamma, lam)
        rewards *= 0
        return out

    found = verification_of(rude, GAE)
    assert found.outcome == "right"
    assert any("writes into its argument rewards" in note for note in found.notes)
    assert not any("writes into" in note for note in verification_of(sound, GAE).notes)


def test_one_that_cannot_do_a_single_step_is_right_with_a_note():
    def several(rewards, values, dones, last_value, gamma, lam):
        assert len(rewards) > 1, "too short"
        return sound(rewards, values, dones, last_value, gamma, lam)

    found = verification_of(several, GAE)
    assert found.outcome == "right"
    assert any("on one step, it raises AssertionError: too short" in note for note in found.notes)


def test_one_flag_is_remarked_and_two_are_not():
    def both(rewards, values, next_values, terminated, truncated, gamma, lam):
        out, acc = torch.zeros_like(rewards), 0.0
        for t in reversed(range(len(rewards))):
            over = torch.maximum(terminated[t], truncated[t])
            acc = rewards[t] + gamma * next_values[t] * (1 - terminated[t]) - values[t] + gamma * lam * (1 - over) * acc
            out[t] = acc
        return out

    assert any("one flag" in note for note in verification_of(sound, GAE).notes)
    assert verification_of(both, GAE).notes == ()


def test_names_that_say_nothing_are_found_by_elimination_or_by_the_mapping():
    def named(x, y, dones, last_value, gamma, lam):
        return sound(x, y, dones, last_value, gamma, lam)

    for given in ({}, {"reward": "x", "value": "y"}, {"x": "reward", "y": "value"}):
        found = verification_of(named, GAE, given)
        assert found.outcome == "right", found.reason
        assert found.mapping["x"] == "reward of the step"


def test_the_smallest_case_is_small_and_names_the_users_own_arguments():
    def leaks(rews, vals, ends, v_last, gamma, lam):
        out, acc, following = torch.zeros_like(rews), 0.0, v_last
        for t in reversed(range(len(rews))):
            acc = rews[t] + gamma * following * (1 - ends[t]) - vals[t] + gamma * lam * acc
            out[t], following = acc, vals[t]
        return out

    found = verification_of(leaks, GAE, {"done": "ends"})
    assert found.matched == ("gae-runs-over-reset",)
    table = found.table
    assert table is not None
    assert table.columns == ("t", "rews", "vals", "ends", "yours", "right")
    assert len(table.rows) <= 4
    assert table.wrong
    assert "v_last = " in table.numbers


def test_a_reference_that_is_wrong_would_be_seen():
    assert close(np.array([1.0, np.nan]), [1.0, np.nan], 1e-4)
    assert not close(np.array([1.0, 2.0]), [1.0, 2.01], 1e-4)
    assert not close(np.array([1.0]), 1.0, 1e-4)


@pytest.mark.parametrize("keeps", [True, False])
def test_a_forgotten_return_is_no_pass(keeps):
    def forgets(rewards, values, dones, last_value, gamma, lam):
        out = sound(rewards, values, dones, last_value, gamma, lam)
        return out if keeps else None

    found = verification_of(forgets, GAE)
    assert found.outcome == ("right" if keeps else "wrong")
    if not keeps:
        assert found.message == "it gives nothing back: a return is missing"


def test_a_method_that_sets_nothing_known_cannot_be_judged():
    class Storage:
        def compute(self, last_value):
            self.something = self.rewards + self.values + self.gamma * last_value

    found = verification_of(Storage.compute, GAE)
    assert found.outcome == "unusable"
    assert "sets nothing that could be advantage, return" in found.reason


def test_nan_is_told():
    def divides(rewards, values, dones, last_value, gamma, lam):
        return sound(rewards, values, dones, last_value, gamma, lam) / torch.zeros(())

    found = verification_of(divides, GAE)
    assert found.outcome == "wrong"
    assert not found.matched


def test_a_number_of_its_own_is_told_only_where_it_matters():
    def with_half(rewards, values, dones, last_value, lam):
        return sound(rewards, values, dones, last_value, 0.5, lam) * 2 * 0.5

    assert any("γ = 0.5 of its own" in each for each in verification_of(with_half, GAE).convention)
