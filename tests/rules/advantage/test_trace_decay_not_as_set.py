"""The λ that was set, and the one that is applied."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rldebug.evidence.script import Script
from rldebug.rule import NotEnough
from rldebug.rules.advantage.trace_decay_not_as_set import TraceDecayNotAsSet
from tests.forensics.simulated import gae
from tests.programs.formula_learners import rollouts
from tests.programs.formulas import found, on_policy
from tests.watched import watched


def told(target: float, weight: float) -> Script:
    script = on_policy(lambda of: gae(of, lam=target), lambda of: gae(of, lam=weight) - of.value[:-1])
    return replace(script, notes=[{"kind": "option", "name": "gae_lambda", "value": 0.9}])


def test_fires_another_one_is_found() -> None:
    (finding,) = found(TraceDecayNotAsSet(), told(0.99, 0.99))
    assert "0.99" in finding.message


def test_quiet_the_setting_itself_is_fine() -> None:
    assert found(TraceDecayNotAsSet(), told(0.9, 0.9)) == []


def test_quiet_a_critic_may_have_targets_of_its_own() -> None:
    with pytest.raises(NotEnough):
        found(TraceDecayNotAsSet(), told(1.0, 0.9))


def test_fires_in_a_program_that_was_watched() -> None:
    _, script = watched(lambda: rollouts(lambda of: gae(of, lam=0.7)))
    settings = [*script.notes, {"kind": "option", "name": "gae_lambda", "value": 0.9}]
    assert len(found(TraceDecayNotAsSet(), replace(script, notes=settings))) == 1
