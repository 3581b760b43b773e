"""The two averages of Adam."""

from rldebug.rules.optimizer.betas_swapped import BetasSwapped
from tests.programs import learning
from tests.watched import findings

rule = BetasSwapped()


def test_fires_on_swapped_betas() -> None:
    (found,) = findings(lambda: learning.regression("betas"), rule.code)
    assert "(0.999, 0.9)" in found.seen


def test_quiet_on_usual_betas() -> None:
    for betas in ((0.9, 0.999), (0.5, 0.9), (0.0, 0.99), (0.99, 0.999), (0.95, 0.95)):
        made = learning.optimizer({"net": 4}, settings={"betas": list(betas)})
        assert not list(rule.check(learning.script([], optimizer={"it": made})))
