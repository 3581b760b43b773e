from dataclasses import replace

import pytest

from rldebug.evidence.script import Event
from rldebug.rules.target_network.two_targets_follow_one import TwoTargetsFollowOne
from tests.judge import fires, not_enough, quiet
from tests.programs.actor_critic import script

rule = TwoTargetsFollowOne()


def looked(follow):
    """With a look at the weights: all critics are alike in shape."""
    seen = script(follow=follow)
    names = ("q1", "q2", "q1_t", "q2_t")
    looks = [
        Event(900, "weights", 9, 0, {"module": name, "distance": {each: 1.0 for each in names if each != name}})
        for name in names
    ]
    last = seen.audits[-1]
    return replace(seen, audits=[*seen.audits[:-1], replace(last, events=(*last.events, *looks))])


def test_fires_where_both_follow_the_first():
    assert "nothing follows q2" in fires(rule, looked({"q1_t": "q1", "q2_t": "q1"})).seen


def test_quiet_where_each_has_its_own():
    quiet(rule, looked({"q1_t": "q1", "q2_t": "q2"}))


@pytest.mark.parametrize("follow", [{}, {"q1_t": "q1"}])
def test_declines_where_fewer_than_two_move(follow):
    not_enough(rule, looked(follow))
