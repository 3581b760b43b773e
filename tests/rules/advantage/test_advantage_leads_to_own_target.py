"""What log-probs are weighed by where targets are those of V-trace."""

import pytest

from rldebug.evidence.script import Script
from rldebug.rule import NotEnough
from rldebug.rules.advantage.advantage_leads_to_own_target import AdvantageLeadsToOwnTarget
from tests.forensics.test_target_vtrace import clipped, learned
from tests.programs.threaded import learn
from tests.watched import findings


def found(push):
    script = Script([learned(number, clipped, push=push) for number in range(3)])
    return [each.seen for each in AdvantageLeadsToOwnTarget().check(script)]


def test_fires_where_the_targets_are_not_shifted():
    assert "0.95 · own target" in found(0)[0]


def test_fires_in_a_program_of_threads():
    assert [each.code for each in findings(lambda: learn(shifted=False), "ADV336")] == ["ADV336"]


@pytest.mark.parametrize("push", [1, None])
def test_quiet_where_the_next_target_is_led_to(push):
    assert not found(push)


def test_says_nothing_without_importance_weights():
    with pytest.raises(NotEnough):
        list(AdvantageLeadsToOwnTarget().check(Script()))
