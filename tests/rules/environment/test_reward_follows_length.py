import numpy as np

from tests.rules.generations import found, lacking, rounds, sound

CODE = "ENV513"


def test_fires_on_the_fault():
    (finding,) = found(CODE, rounds(sound(), tokens=_longer, reward=_longer))
    assert finding.component == "environment"
    assert "correlation 1.00" in finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE, sound())
    assert not found(CODE, rounds(sound(), reward=lambda each: each.column("tokens") * 1.0))  # they do not grow
    assert not found(CODE, rounds(sound(), tokens=_longer))  # they grow, and are not paid for it
    assert lacking(CODE, sound(rounds=3))


def _longer(each):
    return (np.arange(len(each)) * 7 % 5) + 2 * each.number
