import functools
import gc
import json
import pickle
import random
import traceback
import types
import weakref
from concurrent.futures.process import _ExceptionWithTraceback

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import nn

from rldebug.diagnose import diagnose
from rldebug.evidence.crash import Crash, crash_from_text, is_crash, read_crash
from rldebug.evidence.crashes.expression import names_in
from rldebug.evidence.crashes.facts import fact_of, kind_of
from rldebug.evidence.crashes.place import place
from tests.rules.crashes import crashed


def test_tells_the_line_the_expression_and_what_met_there():
    def program():
        a, b = torch.zeros(3, requires_grad=True).exp(), np.zeros(4)
        return a.sum() + torch.as_tensor(b) @ torch.zeros(5, dtype=torch.float64)

    crash = crashed(program)
    assert crash.type == "RuntimeError"
    assert crash.at.function == "program"
    assert crash.at.file == __file__
    assert crash.at.expression == "torch.as_tensor(b) @ torch.zeros(5, dtype=torch.float64)"
    assert crash.operands() == {"b": {"kind": "array", "shape": [4], "dtype": "float64"}}
    assert crash.at.facts["a"]["grad"] is True
    assert crash.at.facts["a"]["ops"][0] == "Exp"
    assert (crash.where.update, crash.where.env_step) == (10, 100)


def test_never_holds_data():
    def program():
        secret = torch.full((2,), 123456.0)
        listed = np.full(3, 654321.0)
        raise ValueError(f"{len(secret)} {len(listed)}")

    told = json.dumps(crashed(program).to_dict()["frames"])
    assert "secret" in told
    assert "123456.0," not in told.replace("torch.full((2,), 123456.0)", "")
    assert "[654321" not in told


def test_keeps_nothing_of_the_program_alive():
    kept = []

    def program():
        tensor = torch.zeros(3)
        kept.append(weakref.ref(tensor))
        raise ValueError("over")

    crash = crashed(program)
    gc.collect()
    assert crash.at.facts["tensor"]["shape"] == [3]
    assert kept[0]() is None


def test_draws_no_random_number():
    random.seed(0), np.random.seed(0), torch.manual_seed(0)
    before = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()

    def program():
        policy = nn.Linear(2, 2)
        env = gym.make("CartPole-v1")
        env.reset(seed=0)
        torch.manual_seed(0)
        return policy, env.step(7)

    crashed(program)
    assert (random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()) == before


class Hostile:
    @property
    def __class__(self):
        raise RuntimeError("do not ask")

    def __getattr__(self, name):
        raise RuntimeError("do not ask")

    def __len__(self):
        raise RuntimeError("do not ask")

    def __repr__(self):
        raise RuntimeError("do not ask")


def test_survives_objects_that_answer_nothing():
    def program():
        hostile, tensor = Hostile(), torch.zeros(2)
        raise ValueError(f"over {type(hostile).__name__} {tensor.shape}")

    assert crashed(program).at.facts["tensor"]["shape"] == [2]
    assert kind_of(Hostile()) == ""


def test_asks_no_property_of_the_program():
    class Agent:
        asked = 0

        @property
        def size(self):
            Agent.asked += 1
            return 3

    def program():
        agent, missing = Agent(), None
        return missing.value + agent.size

    crashed(program)
    assert Agent.asked == 0


def test_survives_an_exception_that_cannot_be_printed():
    class Mute(Exception):
        def __str__(self):
            raise RuntimeError("no")

    def program():
        raise Mute

    assert crashed(program).message == ""


def test_an_endless_recursion_stays_small():
    def program():
        return program()

    crash = crashed(program)
    assert crash.type == "RecursionError"
    assert len(crash.frames) <= 60
    assert len(json.dumps(crash.to_dict())) < 200_000


def test_an_error_that_only_wraps_another_in_the_users_code_is_looked_through():
    def program():
        try:
            torch.zeros(2).mean().backward()
        except RuntimeError as error:
            raise RuntimeError("training failed") from error

    crash = crashed(program)
    assert "does not require grad" in crash.message
    assert crash.chain == (("RuntimeError", "training failed"),)


def test_an_error_that_happens_while_another_is_handled_is_the_one_that_counts():
    def program():
        try:
            return {}["a"]
        except KeyError:
            return [][3]

    crash = crashed(program)
    assert crash.type == "IndexError"
    assert crash.chain == (("KeyError", "'a'"),)


def test_a_library_between_two_frames_of_the_user_is_not_the_users():
    class Net(nn.Module):
        def forward(self, x):
            return x.no_such_method()

    crash = crashed(lambda: Net()(torch.zeros(2)))
    assert {frame.module.split(".")[0] for frame in crash.frames if not frame.own} == {"torch"}
    assert crash.at.owner == "network"
    assert place(crash) == "network"


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(1), GeneratorExit(), None])
def test_what_ends_a_program_on_purpose_is_no_crash(error):
    assert not is_crash(error)
    assert is_crash(ValueError())


def test_a_run_folder_tells_of_its_crash(tmp_path):
    assert read_crash(tmp_path) is None
    (tmp_path / "run.json").write_text("{}")
    assert read_crash(tmp_path) is None
    crash = crashed(lambda: 1 / 0)
    (tmp_path / "run.json").write_text(json.dumps({"crash": crash.to_dict()}))
    assert read_crash(tmp_path) == crash
    for damaged in ('{"crash": 3}', '{"crash": {"type": "ValueError"}}', "[1]", '{"crash": '):
        (tmp_path / "run.json").write_text(damaged)
        assert read_crash(tmp_path) is None


TEXT = """Traceback (most recent call last):
  File "/home/me/train.py", line 12, in <module>
    main()
  File "/home/me/train.py", line 8, in main
    q = net(obs)
        ^^^^^^^^
  File "/venv/lib/python3.12/site-packages/torch/nn/modules/module.py", line 1773, in _wrapped_call_impl
    return self._call_impl(*args, **kwargs)
RuntimeError: mat1 and mat2 must have the same dtype, but got Double and Float
"""


def test_a_printed_traceback_is_read():
    crash = crash_from_text(TEXT)
    assert (crash.type, crash.message) == (
        "RuntimeError",
        "mat1 and mat2 must have the same dtype, but got Double and Float",
    )
    assert [frame.own for frame in crash.frames] == [True, True, False]
    assert crash.at.source == "q = net(obs)"
    assert crash.frames[-1].module == "torch.nn.modules.module"
    assert [each.code for each in diagnose([crash]).findings] == ["PRE402"]
    assert crash_from_text("no traceback in here") is None


def in_a_worker():
    obs = torch.zeros(2, 4)
    return obs @ torch.zeros(3, 2)


def test_the_error_that_a_pool_brings_back_is_the_workers_own():
    def program():
        try:
            in_a_worker()
        except RuntimeError as error:
            sent = pickle.dumps(_ExceptionWithTraceback(error, error.__traceback__))
        raise pickle.loads(sent)

    crash = crashed(program)
    assert crash.at.function == "in_a_worker"
    assert "cannot be multiplied" in crash.message
    assert crash.chain == (("RuntimeError", "raised in another process"),)


def test_what_a_library_holds_of_a_worker_is_told(monkeypatch):
    env = gym.vector.SyncVectorEnv([lambda: gym.make("CartPole-v1")])
    queue = types.SimpleNamespace()
    try:
        in_a_worker()
    except RuntimeError as error:
        queue.get = functools.partial(tuple, (0, RuntimeError, str(error), traceback.format_exc()))
    env.error_queue, env.parent_pipes = queue, [types.SimpleNamespace(close=lambda: None)]
    monkeypatch.setattr("gymnasium.logger.error", lambda text: None)
    crash = crashed(lambda: gym.vector.AsyncVectorEnv._raise_if_errors(env, [False]))
    env.close()
    assert crash.at.function == "in_a_worker"


def test_notes_of_ours_are_no_part_of_a_crash():
    def program():
        error = ValueError("over")
        error.__notes__ = ["theirs", "\nrldebug: error[GRA401] ours"]
        raise error

    assert crashed(program).notes == ("theirs",)


def test_every_crash_has_one_finding_also_without_frames():
    for kind in ("ValueError", "KeyError", "SomethingOfTheirOwn"):
        assert len(diagnose([Crash(type=kind, message="")]).findings) == 1


def test_kinds_are_told_by_what_objects_are_and_hold():
    class Replay:
        def __init__(self):
            self.obs, self.reward, self.at = np.zeros((9, 2)), np.zeros(9), 0

    class Agent(Replay):
        def __init__(self):
            super().__init__()
            self.net = nn.Linear(2, 2)

    class World:
        def reset(self): ...
        def step(self, action): ...

    assert kind_of(Replay()) == "buffer"
    assert kind_of(Agent()) == ""
    assert kind_of(World()) == "environment"
    assert kind_of(nn.Linear(2, 2)) == "network"
    assert kind_of(torch.distributions.Normal(0.0, 1.0)) == "distribution"
    assert kind_of(np) == ""
    assert fact_of(torch.tensor([1.0, float("nan")]))["nan"] is True
    assert fact_of(lambda: 3) is None


def test_names_are_found_in_an_expression():
    found = names_in("self.net(obs[i]) - batch.reward")
    assert set(found) == {"self", "self.net", "obs", "i", "batch", "batch.reward"}
    assert names_in("for x in") == []


def test_items_of_plain_collections_are_known_by_name():
    def program():
        batch = {"action": torch.zeros(8), "rows": [torch.zeros(2), torch.zeros(3)]}
        return batch["action"] + batch["rows"][1]

    assert {name: fact["shape"] for name, fact in crashed(program).operands().items() if "shape" in fact} == {
        "batch['action']": [8],
        "batch['rows'][1]": [3],
    }
