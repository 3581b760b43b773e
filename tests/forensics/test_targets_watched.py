"""The same, of programs that were really watched: from their losses back to the formula."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.forensics.simulated import gae
from tests.programs.formula_learners import episodes, replays, rollouts
from tests.watched import watched

from rldebug.evidence.script import Script
from rldebug.forensics.targets import discount, fit_targets, fit_weights, trace_decay

OURS = ("DIS30", "DIS31", "ADV32", "VAL36", "BUF34", "POL340")


def seen(program: Callable[[], None]) -> Script:
    return watched(program)[1]


def codes(script: Script) -> set[str]:
    from rldebug.diagnose import diagnose

    report = diagnose([script], command="run")
    return {each.code for each in report.findings if each.code.startswith(OURS) and each.severity != "note"}


def test_an_actor_critic() -> None:
    script = seen(rollouts)
    assert discount(script) == pytest.approx(0.97, abs=1e-3)
    assert trace_decay(script) == pytest.approx(0.9, abs=1e-2)
    assert [each.of for each in fit_weights(script)] == ["advantage"]
    assert codes(script) == set()


def test_an_actor_critic_without_a_mask_has_one_fault() -> None:
    assert codes(seen(lambda: rollouts(lambda of: gae(of, mask="none")))) == {"DIS300"}


def test_reinforce() -> None:
    script = seen(episodes)
    (fit,) = fit_targets(script)
    assert (fit.what, fit.name) == ("weight", "monte-carlo")
    assert discount(script) == pytest.approx(0.9, abs=1e-3)
    assert codes(script) == set()


def test_reinforce_that_forgets_to_reset() -> None:
    assert codes(seen(lambda: episodes(reset=False))) == {"DIS300"}


def test_reinforce_with_the_wrong_sign() -> None:
    assert codes(seen(lambda: episodes(sign=1.0))) == {"POL340"}


def test_dqn() -> None:
    script = seen(replays)
    (fit,) = fit_targets(script)
    assert fit.name.startswith("max of")
    assert discount(script) == pytest.approx(0.97, abs=1e-3)
    assert codes(script) == set()
