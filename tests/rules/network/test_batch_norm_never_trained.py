"""Batch norm in evaluation mode."""

from typing import Any

from rldebug.rules.network.batch_norm_never_trained import BatchNormNeverTrained
from tests.programs import learning
from tests.programs.rounds import actor_critic
from tests.watched import findings

rule = BatchNormNeverTrained()


def made(training: bool, layers: dict[str, int]) -> Any:
    acting: Any = {"module": "net", "grad": False, "acting": True, "training": False}
    update: Any = {"module": "net", "grad": True, "acting": False, "training": training, "line": ["train.py", 4]}
    events: Any = [("call", acting, {}), *[("call", update, {})] * 3]
    return learning.script(events, events, module={"net": learning.module({"adam": 4}, layers=layers)})


def test_fires_on_batch_norm_that_is_never_in_training_mode() -> None:
    assert len(list(rule.check(made(False, {"BatchNorm1d": 2, "Linear": 3})))) == 1


def test_fires_on_a_program_that_never_calls_train() -> None:
    (found,) = findings(lambda: actor_critic("batch norm never trained", rounds=4), rule.code)
    assert found.message.startswith("policy")


def test_quiet_on_a_program_that_calls_train_before_the_update() -> None:
    assert not findings(lambda: actor_critic("batch norm", rounds=4), rule.code)


def test_quiet_on_training_mode_in_the_update() -> None:
    assert not list(rule.check(made(True, {"BatchNorm1d": 2, "Linear": 3})))


def test_quiet_on_a_network_without_batch_norm() -> None:
    assert not list(rule.check(made(False, {"LayerNorm": 2, "Linear": 3})))
