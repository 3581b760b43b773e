import numpy as np

from tests.rules.generations import found, lacking, rounds, sound

CODE = "ENV512"


def test_fires_on_the_fault():
    (finding,) = found(CODE, rounds(sound(), **{"reward/score": lambda each: np.sort(each.column("reward"))}))
    assert finding.component == "environment"
    assert "come sorted" in finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE, sound())
    few = rounds(sound(), **{"reward/score": lambda each: (np.arange(len(each)) > 7) * 1.0})
    assert not found(CODE, few)  # two values may come in order by chance
    same = rounds(sound(), **{"again/score": lambda each: each.column("reward")})
    assert not found(CODE, same)
    judge = rounds(sound(), answer=lambda each: each.column("group"), **{"reward/score": _nearly_the_same})
    assert not found(CODE, judge)
    alike = rounds(
        sound(), answer=lambda each: each.column("group"), **{"reward/score": lambda each: np.ones(len(each))}
    )
    assert not found(CODE, alike)  # one reward for all is another mistake
    assert lacking(CODE, sound(rounds=0))


def _nearly_the_same(each):
    return each.column("group") + 0.01 * each.column("reward")


def test_fires_where_it_says_something_else_in_another_order():
    turned = rounds(sound(), **{"again/score": lambda each: each.column("reward")[::-1]})
    (finding,) = found(CODE, turned)
    assert "asked again" in finding.seen


def test_fires_where_the_same_answer_is_rewarded_as_any_other():
    (finding,) = found(CODE, rounds(sound(), answer=lambda each: each.column("group")))
    assert "the same answer" in finding.seen
