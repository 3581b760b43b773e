"""Weight decay that decides everything."""

from rldebug.rules.optimizer.weight_decay_absurd import WeightDecayAbsurd
from tests.programs import learning
from tests.watched import findings

rule = WeightDecayAbsurd()


def test_fires_on_a_decay_of_nearly_one() -> None:
    (found,) = findings(lambda: learning.regression("decay"), rule.code)
    assert "0.9" in found.message


def test_quiet_on_usual_decays() -> None:
    for kind, decay in (("Adam", 1e-2), ("AdamW", 0.1), ("SGD", 1e-3)):
        made = learning.optimizer({"net": 4}, settings={"weight_decay": decay}, **{"class": kind})
        assert not list(rule.check(learning.script([], optimizer={"it": made})))


def test_fires_on_a_decoupled_decay_counts_with_its_learning_rate() -> None:
    made = learning.optimizer({"net": 4}, settings={"weight_decay": 10.0}, **{"class": "AdamW"})
    assert list(rule.check(learning.script([], optimizer={"it": made})))
