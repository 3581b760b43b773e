"""A critic that learns to stay as it is."""

from __future__ import annotations

from rldebug.rules.value_loss.target_is_own_value import TargetIsOwnValue
from tests.forensics.simulated import gae
from tests.programs.formula_learners import rollouts
from tests.programs.formulas import found, on_policy, term
from tests.watched import findings


def test_fires_the_value_itself_is_found() -> None:
    assert len(found(TargetIsOwnValue(), on_policy(lambda of: of.value[:-1]))) == 1


def test_quiet_a_target_with_rewards_is_fine() -> None:
    assert found(TargetIsOwnValue(), on_policy(gae)) == []


def test_quiet_beside_another_target_it_only_holds_the_critic_back() -> None:
    script = on_policy(gae)
    for audit in script.audits:
        value = next(each for each in audit.events if each.kind == "call").arrays["output0"][:, 0]
        rows = audit.terms("regression")[0].arrays["rows"]
        arrays = {"rows": rows, "prediction": value[rows], "target": value[rows]}
        object.__setattr__(
            audit, "events", (*audit.events, term(9, audit.update, "regression", 0.1, ["critic"], arrays))
        )
    assert found(TargetIsOwnValue(), script) == []


def test_fires_in_a_program_that_was_watched() -> None:
    assert findings(lambda: rollouts(lambda of: of.value[:-1], lambda of: gae(of) - of.value[:-1]), "VAL360")


def test_quiet_in_a_program_without_the_fault() -> None:
    assert findings(rollouts, "VAL360") == []
