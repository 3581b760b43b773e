"""A critic that learns to stay as it is."""

from __future__ import annotations

from rldebug.rules.value_loss.target_is_own_value import TargetIsOwnValue
from tests.forensics.simulated import gae
from tests.programs.formulas import found, on_policy, term


def test_the_value_itself_is_found() -> None:
    assert len(found(TargetIsOwnValue(), on_policy(lambda of: of.value[:-1]))) == 1


def test_a_target_with_rewards_is_fine() -> None:
    assert found(TargetIsOwnValue(), on_policy(gae)) == []


def test_beside_another_target_it_only_holds_the_critic_back() -> None:
    script = on_policy(gae)
    for audit in script.audits:
        value = next(each for each in audit.events if each.kind == "call").arrays["output0"][:, 0]
        rows = audit.terms("regression")[0].arrays["rows"]
        arrays = {"rows": rows, "prediction": value[rows], "target": value[rows]}
        object.__setattr__(
            audit, "events", (*audit.events, term(9, audit.update, "regression", 0.1, ["critic"], arrays))
        )
    assert found(TargetIsOwnValue(), script) == []
