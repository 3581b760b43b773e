"""Batch norm in training mode while acting."""

from typing import Any

import pytest

from rldebug.rule import NotEnough
from rldebug.rules.network import batch_norm_acts_in_training_mode
from rldebug.rules.network.batch_norm_acts_in_training_mode import BatchNormActsInTrainingMode
from tests.programs import learning
from tests.programs.rounds import actor_critic
from tests.watched import findings

rule = BatchNormActsInTrainingMode()


def made(monkeypatch: pytest.MonkeyPatch, training: bool, layers: dict[str, int]) -> Any:
    acting: Any = {"module": "net", "grad": False, "acting": True, "training": training, "line": ["train.py", 4]}
    events: Any = [("call", acting, {})]
    script = learning.script(events, events, module={"net": learning.module({"adam": 4}, layers=layers)})
    monkeypatch.setattr(batch_norm_acts_in_training_mode, "acting_calls", lambda _: script.events("call"))
    return script


def test_fires_on_acting_in_training_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(list(rule.check(made(monkeypatch, True, {"BatchNorm1d": 1})))) == 1


def test_fires_on_a_program_that_never_calls_eval() -> None:
    (found,) = findings(lambda: actor_critic("batch norm acts in training mode", rounds=4), rule.code)
    assert found.message.startswith("policy")


def test_quiet_on_a_program_that_calls_eval_before_acting() -> None:
    assert not findings(lambda: actor_critic("batch norm", rounds=4), rule.code)


def test_quiet_on_acting_in_evaluation_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not list(rule.check(made(monkeypatch, False, {"BatchNorm1d": 1})))


def test_declines_on_layer_norm_has_no_modes(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotEnough):
        list(rule.check(made(monkeypatch, True, {"LayerNorm": 1})))
