"""A ratio that stays 1 while log-probs change."""

from __future__ import annotations

import numpy as np
import pytest

from rldebug.evidence.script import Script
from rldebug.rule import NotEnough
from rldebug.rules.policy_loss.old_log_prob_made_anew import OldLogProbMadeAnew
from tests.programs.losses_made import script, term


def made(anew: bool, epochs: int = 3) -> Script:
    audits = []
    for number in range(2):
        first = -np.random.default_rng(number).random(32)
        losses = []
        for epoch in range(epochs):
            now = first + 0.05 * epoch
            policy = term(1, number, ratio=np.ones(32) if anew else np.exp(now - first), logp=now, index=np.zeros(32))
            policy.arrays["rows"] = np.arange(32)  # type: ignore[index]
            losses.append([policy])
        audits.append(losses)
    return script(audits)


def test_fires_a_ratio_of_one_in_later_epochs_is_found() -> None:
    assert len(list(OldLogProbMadeAnew().check(made(True)))) == 1


def test_quiet_a_ratio_that_moves_is_fine() -> None:
    assert list(OldLogProbMadeAnew().check(made(False))) == []


def test_quiet_rows_that_are_learned_from_once() -> None:
    with pytest.raises(NotEnough):
        list(OldLogProbMadeAnew().check(made(True, epochs=1)))


def continuous(anew: bool, share: float = 0.5) -> Script:
    """Actions of two numbers, log-probs without a constant; `share` of the rows are those of an earlier minibatch."""
    audits = []
    for number in range(2):
        random = np.random.default_rng(number)
        first, actions = -random.random(32), random.normal(size=(32, 2)).astype(np.float32)
        losses = []
        for which in range(3):
            rows = (
                np.arange(16) if not which else np.r_[np.arange(int(16 * share)), 16 + np.arange(16 - int(16 * share))]
            )
            now = (first + 0.05 * which)[rows]
            ratio = np.ones(16) if anew else np.exp(now - first[rows])
            policy = term(1, number, ratio=ratio, logp_up_to_constant=now, action=actions[rows])
            policy.arrays["rows"] = rows  # type: ignore[index]
            losses.append([policy])
        audits.append(losses)
    return script(audits)


def test_fires_on_actions_of_real_numbers_where_half_of_a_minibatch_was_seen_before() -> None:
    assert len(list(OldLogProbMadeAnew().check(continuous(True)))) == 1
    assert list(OldLogProbMadeAnew().check(continuous(False))) == []


def test_quiet_where_hardly_a_row_was_seen_before() -> None:
    with pytest.raises(NotEnough):
        list(OldLogProbMadeAnew().check(continuous(True, share=0.2)))
