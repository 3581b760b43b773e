"""The discount that was set, and the one that is applied."""

from __future__ import annotations

from dataclasses import replace

from rldebug.evidence.script import Script
from rldebug.rules.discounting.discount_not_as_set import DiscountNotAsSet
from tests.forensics.simulated import gae
from tests.programs.formula_learners import rollouts
from tests.programs.formulas import found, on_policy
from tests.watched import findings


def told(script: Script, **settings: float) -> Script:
    return replace(script, notes=[{"kind": "option", "name": name, "value": each} for name, each in settings.items()])


def test_fires_a_square_is_found() -> None:
    (finding,) = found(DiscountNotAsSet(), on_policy(lambda of: gae(of, 0.99**2)))
    assert "0.99" in finding.seen
    assert len(found(DiscountNotAsSet(), told(on_policy(lambda of: gae(of, 0.9**2)), gamma=0.9))) == 1


def test_fires_no_discount_at_all_is_found_where_one_was_set() -> None:
    assert len(found(DiscountNotAsSet(), told(on_policy(lambda of: gae(of, 1.0)), gamma=0.98))) == 1


def test_fires_swapped_settings_are_found() -> None:
    assert (
        len(found(DiscountNotAsSet(), told(on_policy(lambda of: gae(of, 0.9, 0.99)), gamma=0.99, gae_lambda=0.9))) == 1
    )


def test_quiet_the_setting_itself_is_fine() -> None:
    for gamma in (0.99, 0.995, 0.9, 0.81, 1.0):
        script = on_policy(lambda of, gamma=gamma: gae(of, gamma))  # type: ignore[misc]
        assert found(DiscountNotAsSet(), script) == []
        assert found(DiscountNotAsSet(), told(script, gamma=gamma)) == []


def test_fires_on_a_default_of_its_own_to_which_the_setting_is_not_handed_over() -> None:
    (finding,) = found(DiscountNotAsSet(), told(on_policy(lambda of: gae(of, 0.93)), gamma=0.99))
    assert "another number" in finding.seen


def test_quiet_on_a_number_that_nobody_would_set() -> None:
    """Of targets that are brought to another scale now and then a discount is read that is only nearly right."""
    assert found(DiscountNotAsSet(), told(on_policy(lambda of: gae(of, 0.97163)), gamma=0.97)) == []


def test_quiet_where_a_step_of_the_learner_is_several_of_the_environment() -> None:
    assert found(DiscountNotAsSet(), told(on_policy(lambda of: gae(of, 0.98**4)), gamma=0.98)) == []


def test_fires_where_the_setting_lies_at_hand() -> None:
    script = on_policy(lambda of: gae(of, 1.0))
    for how in (0, 1, 2):
        note = {"kind": "setting", "name": "gamma", "value": 0.98, "holder": "PPO", "how": how}
        assert len(found(DiscountNotAsSet(), replace(script, notes=[note]))) == 1


def test_quiet_where_a_constant_of_the_module_has_another_number() -> None:
    script = on_policy(lambda of: gae(of, 0.93))
    counts = []
    for how in (0, 1, 2):
        note = {"kind": "setting", "name": "gamma", "value": 0.98, "holder": "", "how": how}
        counts.append(len(found(DiscountNotAsSet(), replace(script, notes=[note]))))
    assert counts == [1, 0, 1]


def test_fires_in_a_program_that_was_watched() -> None:
    assert findings(lambda: rollouts(lambda of: gae(of, 0.99**2)), "DIS311")


def test_quiet_in_a_program_without_the_fault() -> None:
    assert findings(rollouts, "DIS311") == []
