"""A mean over the whole batch."""

from typing import Any

import numpy as np
import pytest

from rldebug.forensics.roles import Roles
from rldebug.rule import NotEnough
from rldebug.rules.network import output_depends_on_batch
from rldebug.rules.network.output_depends_on_batch import OutputDependsOnBatch
from tests.programs import learning
from tests.programs.rounds import dueling_dqn
from tests.watched import findings

rule = OutputDependsOnBatch()


def made(monkeypatch: pytest.MonkeyPatch, shift: float, layers: dict[str, int]) -> Any:
    known = Roles(q=frozenset({"q"}))
    monkeypatch.setattr(output_depends_on_batch, "roles_of", lambda script: known)
    draw = np.random.default_rng(0)
    audits = []
    for _ in range(3):
        rows = draw.normal(size=(32, 4)).astype(np.float32)
        output = rows[:, :2] * 3
        shapes: Any = {"inputs": [{"shape": [32, 4]}], "outputs": [{"shape": [32, 2]}], "training": True}
        first: Any = ("call", {"module": "q", "grad": False, **shapes}, {"input": rows, "output0": output})
        again: Any = ("call", {"module": "q", "grad": True, **shapes}, {"input": rows, "output0": output + shift})
        audits.append([first, again])
    return learning.script(*audits, module={"q": learning.module({"adam": 4}, layers=layers)})


def test_fires_on_outputs_that_differ_from_batch_to_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    (found,) = rule.check(made(monkeypatch, 0.7, {"Linear": 3}))
    assert "96 pairs" in found.seen


def test_fires_on_a_dueling_network_with_the_mean_over_the_whole_batch() -> None:
    (found,) = findings(lambda: dueling_dqn("mean over all"), rule.code)
    assert found.message.startswith("what q says")


def test_quiet_on_a_dueling_network_with_the_mean_over_the_actions() -> None:
    assert not findings(dueling_dqn, rule.code)


def test_quiet_on_the_same_output_up_to_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not list(rule.check(made(monkeypatch, 1e-5, {"Linear": 3})))


def test_declines_on_noise_on_purpose(monkeypatch: pytest.MonkeyPatch) -> None:
    for layers in ({"Linear": 1, "NoisyLinear": 2}, {"Linear": 1, "Dropout": 1}, {"LSTM": 1}):
        with pytest.raises(NotEnough):
            list(rule.check(made(monkeypatch, 0.7, layers)))
