"""Worlds that are no objects: what goes round is told as an environment is, and everything else is left alone."""

import pickle
import traceback
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from rldebug.capture import hand_rolled, worlds
from rldebug.capture.marks import code_of, mark, marked
from rldebug.capture.switch import Switchboard
from tests.capture.env_stub import Log

FILE = __file__  # the texts below are as if they stood here


class Counted(Log):
    @property
    def calls(self):
        return len(self.said)


@contextmanager
def watched(log=None):
    switch, log = Switchboard(), log or Counted()
    worlds.install(switch, log)
    hand_rolled.install(switch, log)
    try:
        yield log
    finally:
        switch.undo()
    assert not switch.broken, "\n".join(switch.broken.values())
    assert mark.watch is None


def ran(text, log=None, **names):
    """What was told while it ran."""
    code = marked(text.encode(), FILE)
    assert code is not None
    with watched(log) as log:
        exec(code, {"np": np, "torch": torch, "net": torch.nn.Linear(2, 2), "__name__": "program", **names})
    return log


STEPS = """
def fresh():
    return np.zeros(2, dtype=np.float32)

def advance(state, action):
    after = state + 1
    return after, 0.5, bool(after[0] >= 3)

def choose(state):
    return int(net(torch.as_tensor(state)).argmax())
"""


def test_a_function_on_a_state():
    log = ran(
        STEPS
        + """
state = fresh()
for _ in range(7):
    action = choose(state)
    state, reward, done = advance(state, action)
    if done:
        state = fresh()
"""
    )
    assert log.whats() == "new reset step step step reset step step step reset step"
    new = log.only("new")
    assert (new.kind, new.lanes, new.autoreset) == ("function", 1, "disabled")
    assert [each.terminated for each in log.all("step")] == [False, False, True, False, False, True, False]
    np.testing.assert_array_equal(log.all("step")[1].obs, [2, 2])
    np.testing.assert_array_equal(log.all("reset")[0].obs, [0, 0])
    assert {each.reward for each in log.all("step")} == {0.5}
    assert all(type(each.action) is int for each in log.all("step"))


def test_a_closure_whose_beginnings_stand_in_an_expression():
    log = ran("""
def make():
    at = 0
    def begin():
        nonlocal at
        at = 0
        return np.zeros(2, dtype=np.float32)
    def move(action):
        nonlocal at
        at += 1
        return np.full(2, at, dtype=np.float32), -1.0, at == 2, False
    return begin, move

def main():
    begin, move = make()
    obs = begin()
    for _ in range(5):
        with torch.no_grad():
            action = net(torch.as_tensor(obs)).argmax().item()
        after, reward, terminated, truncated = move(action)
        obs = begin() if terminated or truncated else after

main()
""")
    assert log.whats() == "new reset step step reset step step reset step"
    assert [each.terminated for each in log.all("step")] == [False, True, False, True, False]


GENERATOR = """
def world():
    while True:
        action = yield np.zeros(2, dtype=np.float32), 0.0, False
        for t in range(1, 4):
            action = yield np.full(2, t, dtype=np.float32), 1.0, t == 3
"""


def test_a_generator_that_is_asked_for_the_beginning():
    log = ran(
        GENERATOR
        + """
env = world()
for _ in range(3):
    obs, _, done = next(env)
    while not done:
        action = net(torch.as_tensor(obs)).argmax().item()
        obs, reward, done = env.send(action)
"""
    )
    assert log.whats() == "new " + " ".join(["reset step step step"] * 3)


def test_one_object_with_fields():
    log = ran("""
from dataclasses import dataclass

@dataclass(frozen=True)
class Position:
    row: int = 0
    col: int = 0
    paid: float = 0.0
    over: bool = False
    def after(self, action):
        return Position(self.row + 1, self.col, 2.0, self.row == 2)

for _ in range(2):
    p = Position()
    while not p.over:
        action = net(torch.tensor([p.row, p.col], dtype=torch.float32)).argmax().item()
        p = p.after(action)
        paid = p.paid
""")
    assert log.whats() == "new " + " ".join(["reset step step step"] * 2)
    np.testing.assert_array_equal(log.all("step")[1].obs, [2, 0])
    assert log.all("step")[2].terminated


BATCH = """
class Trainer:
    def __init__(self):
        self.s = torch.zeros(4, 2)
    def go(self):
        for t in range(4):
            action = net(self.s).argmax(-1)
            after, reward, done = advance(self.s, action)
            %s

def advance(s, action):
    s = s + torch.tensor([[1.0], [1.0], [2.0], [2.0]])
    return s, s.sum(-1), s[:, 0] >= 4

trainer = Trainer()
trainer.go()
"""


@pytest.mark.parametrize(
    "put",
    [
        "self.s = torch.where(done[:, None], torch.zeros(4, 2), after)",
        "self.s = after.clone(); self.s[done] = torch.zeros(int(done.sum()), 2)",
    ],
)
def test_lanes_that_begin_anew_outside_of_the_step(put):
    log = ran(BATCH % put.replace("; ", "\n            "))
    assert log.whats() == "new reset step step reset step step reset"
    assert (log.only("new").lanes, log.only("new").autoreset) == (4, "disabled")
    assert [list(each.mask) for each in log.all("reset")[1:]] == [[False, False, True, True], [True] * 4]
    assert list(log.all("step")[1].terminated) == [False, False, True, True]


def test_a_state_that_the_function_is_given():
    log = ran(
        STEPS
        + """
def play(state):
    for _ in range(2):
        action = choose(state)
        state, reward, done = advance(state, action)
        if done:
            state = fresh()
    return state

state = play(fresh())
state = play(state)
"""
    )
    assert log.whats() == "new reset step step step reset step"


def test_two_loops_are_two_worlds():
    log = ran(
        STEPS
        + """
for _ in range(2):
    state, done = fresh(), False
    while not done:
        state, reward, done = advance(state, choose(state))
    trial, over = fresh(), False
    while not over:
        trial, reward, over = advance(trial, choose(trial))
"""
    )
    assert [each.what for each in log.said].count("new") == 2
    assert len({each.env for each in log.all("new")}) == 2
    assert len(log.all("step")) == 12
    assert len(log.all("reset")) == 4


def test_it_may_begin_anew_by_itself():
    log = ran("""
left = 3
def move(action):
    global left
    left = left - 1 or 3
    return np.full(2, left, dtype=np.float32), 1.0, left == 3

obs = np.zeros(2, dtype=np.float32)
for _ in range(7):
    action = net(torch.as_tensor(obs)).argmax().item()
    obs, reward, done = move(action)
""")
    assert log.whats() == "new reset" + " step" * 7
    assert log.only("new").facts["resets_itself"]


# ── what is left alone ──────────────────────────────────────────────────────────────────────────────────────────────


def test_a_model_that_asks_a_network_within():
    log = ran(
        STEPS.replace("after = state + 1", "after = state + 1; net(torch.as_tensor(state))")
        + """
state = fresh()
for _ in range(5):
    state, reward, done = advance(state, choose(state))
    if done:
        state = fresh()
"""
    )
    assert not log.said


def test_what_gradients_go_through():
    log = ran("""
def cell(x, h):
    return h * weight, h.sum(), True

weight = torch.ones(2, requires_grad=True)
h = torch.zeros(2)
for _ in range(5):
    x = net(h)
    h, total, flag = cell(x, h)
""")
    assert not log.said


def test_an_environment_within():
    log = ran("""
class Env:
    def reset(self):
        self.t = 0
        return np.zeros(2, dtype=np.float32)
    def step(self, action):
        self.t += 1
        return np.full(2, self.t, dtype=np.float32), 1.0, self.t == 3, {}

env = Env()
def play(action):
    obs, reward, done, _ = env.step(action)
    return obs, reward, done

obs = env.reset()
for _ in range(6):
    obs, reward, done = play(net(torch.as_tensor(obs)).argmax().item())
    if done:
        obs = env.reset()
""")
    assert {each.kind for each in log.all("new")} == {"hand-rolled"}
    assert len(log.all("step")) == 6


def test_a_model_beside_an_environment():
    log = Counted()
    log.streams = [SimpleNamespace(kind="gymnasium")]
    ran(
        STEPS
        + """
state = fresh()
for _ in range(5):
    state, reward, done = advance(state, choose(state))
""",
        log,
    )
    assert not log.said


def test_a_flag_that_may_say_that_it_goes_on():
    log = ran("""
def advance(state, action):
    return state + 1, 1.0, True

state = np.zeros(2, dtype=np.float32)
for _ in range(5):
    state, reward, going = advance(state, net(torch.as_tensor(state)).argmax().item())
    if not going:
        state = np.zeros(2, dtype=np.float32)
""")
    assert not log.said


def test_without_a_network():
    log = ran(
        STEPS.replace("int(net(torch.as_tensor(state)).argmax())", "int(state.sum())")
        + """
state = fresh()
for _ in range(5):
    state, reward, done = advance(state, choose(state))
"""
    )
    assert not log.said


@pytest.mark.parametrize(
    "text",
    [
        "for batch in data:\n    loss = net(batch).sum()\n    loss.backward()\n",
        "obs = env.reset()\nwhile True:\n    obs, reward, done, info = env.step(net(obs))\n",
        "import library\nwhile True:\n    state, reward, done = library.advance(state, net(state))\n",
        "for i in range(9):\n    env = envs[i]\n    obs, reward, done = env.send(net(seen))\n    seen = obs\n",
        "while True:\n    s = states[i]\n    s, reward, done = advance(s, net(s))\n    states[i] = s\n",
        "while True:\n    for _ in range(4):\n        s, reward, done = advance(s, action)\n    action = net(s)\n",
    ],
)
def test_a_text_with_nothing_to_mark_is_compiled_as_ever(text):
    assert marked(text.encode(), FILE) is None
    assert code_of(text.encode(), FILE) == compile(text, FILE, "exec", dont_inherit=True)


# ── the program stays what it is ────────────────────────────────────────────────────────────────────────────────────


def test_what_is_raised_comes_out_with_its_lines():
    text = (
        '"""Says."""\nfrom __future__ import annotations\n'
        + STEPS.replace("after = state + 1", "1 / 0")
        + """
state = fresh()
for _ in range(5):
    state, reward, done = advance(state, choose(state))
"""
    )
    with pytest.raises(ZeroDivisionError) as raised:
        ran(text)
    lines = [each.lineno for each in traceback.extract_tb(raised.value.__traceback__) if each.filename == FILE][1:]
    with pytest.raises(ZeroDivisionError) as plain:
        exec(
            compile(text, FILE, "exec"), {"np": np, "torch": torch, "net": torch.nn.Linear(2, 2), "__name__": "program"}
        )
    assert lines[1:] == [each.lineno for each in traceback.extract_tb(plain.value.__traceback__)][1:]


def test_sent_elsewhere_it_only_hands_on():
    there = pickle.loads(pickle.dumps(mark))
    assert there.step(0, max, 1, 2) == 2
    assert there.afresh(0, (0,), -1, "value") == "value"


def test_a_loop_that_is_compiled():
    names = {"np": np, "torch": torch, "net": torch.nn.Linear(2, 2), "__name__": "program"}
    code = marked(
        b"""
def advance(s, a):
    return s + 1, s.sum(), s[0] > 2

def go(s):
    for _ in range(3):
        s, reward, done = advance(s, net(s).argmax())
    return s
""",
        FILE,
    )
    with watched() as log:
        exec(code, names)
        made = torch.compile(names["go"], backend="eager", fullgraph=True)
        assert made(torch.zeros(2)).tolist() == [3.0, 3.0]
    assert not log.said
