import numpy as np

from tests.rules.generations import found, lacking, rounds, sound

CODE = "ACT511"


def test_fires_on_the_fault():
    (finding,) = found(CODE, rounds(sound(), ended=0))
    assert finding.component == "action-sampling"
    assert "100% of 96" in finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE, sound())
    assert not found(CODE, rounds(sound(max_completion_length=8), ended=0))  # too short to be expected to end
    assert not found(CODE, rounds(sound(), ended=lambda each: each.column("group") == 0))
    assert lacking(CODE, sound(rounds=2))


def test_fires_where_answers_ended_at_first():
    later = rounds(sound(max_completion_length=8), ended=lambda each: np.full(len(each), each.number < 5))
    (finding,) = found(CODE, later)
    assert "at first 0%" in finding.seen
