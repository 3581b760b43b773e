import dataclasses

import numpy as np

from tests.rules.generations import found, lacking, passes, sound

CODE = "POL517"


def test_fires_on_the_fault():
    (finding,) = found(CODE, passes(sound(), hold=-0.9))
    assert finding.component == "policy-loss"
    assert "-0.90" in finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE, sound())
    assert not found(CODE, passes(sound(), hold=lambda each: np.linspace(-1, 1, len(each))))
    assert lacking(CODE, sound(rounds=0))


def test_fires_where_the_estimate_is_below_zero():
    below = dataclasses.replace(sound(), steps=({"update": 1.0, "kl": -0.2},))
    (finding,) = found(CODE, below)
    assert "-0.2" in finding.seen
    paid = dataclasses.replace(sound(algorithm="RLOOTrainer"), steps=below.steps)
    assert not found(CODE, paid)  # whose estimate may be
