import numpy as np

from tests.rules.generations import found, lacking, passes, rounds, sound

CODE = "ADV513"


def test_fires_on_the_fault():
    (finding,) = found(CODE, passes(sound(), advantage=lambda each: np.roll(each.column("advantage"), 1)))
    assert finding.component == "advantage"
    assert "in the loss" in finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE, sound())
    assert not found(CODE, passes(sound(), advantage=lambda each: each.column("given") * (1 + 1e-6)))
    assert not found(CODE, rounds(sound(), advantage=lambda each: -each.column("advantage")))  # ADV512 tells that
    paid = sound(algorithm="RLOOTrainer", beta=0.1)
    assert not found(CODE, rounds(paid, advantage=lambda each: each.column("advantage")[::-1]))
    assert lacking(CODE, sound(rounds=0))


def test_fires_where_advantages_are_not_in_the_order_of_rewards():
    (finding,) = found(CODE, rounds(sound(), advantage=lambda each: each.column("advantage")[::-1]))
    assert "pairs" in finding.seen
