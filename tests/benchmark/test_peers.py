"""The peers of the bug benchmark: each fires on a program made for it, and stays quiet on its sound twin."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from rldebug.finding import COMPONENTS, SEVERITIES

PEERS = Path(__file__).parents[2] / "bench" / "bugs" / "peers"
NAMES = sorted(each.stem for each in PEERS.glob("*.py") if each.stem != "recorder")

CORRIDOR = """
import gymnasium as gym
import numpy as np

class Corridor(gym.Env):
    observation_space = gym.spaces.Box(0.0, 1.0, (2,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place, self.time = 0, 0
        return self.seen(), {}

    def step(self, action):
        self.place, self.time = max(0, self.place + 2 * int(action) - 1), self.time + 1
        return self.seen(), float(self.place == 4), self.place == 4, self.time == 20, {}

    def seen(self):
        return np.array([self.place / 4, 1.0], dtype=np.float32)
"""

Q_LEARNING = """
import copy
import torch
from corridor import Corridor

torch.manual_seed(1)
q = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
target = copy.deepcopy(q)
optimizer = torch.optim.Adam(q.parameters(), lr=1e-3)
env = Corridor()
obs, _ = env.reset(seed=1)
epsilon = 1.0
memory = []
for t in range(350):
    with torch.no_grad():
        best = int(q(torch.as_tensor(obs)).argmax())
    action = best if float(torch.rand(())) > epsilon else int(torch.randint(2, ()))
    after, reward, terminated, truncated, _ = env.step(action)
    memory.append((obs, action, reward, after, terminated))
    obs = env.reset()[0] if terminated or truncated else after
    epsilon = max(0.1, epsilon - 1e-3)
    if t >= 32:
        rows = [memory[int(i)] for i in torch.randint(len(memory), (16,))]
        s, n = (torch.tensor([row[k].tolist() for row in rows]) for k in (0, 3))
        a, r, d = (torch.tensor([float(row[k]) for row in rows]) for k in (1, 2, 4))
        with torch.no_grad():
            goal = r + 0.9 * (1 - d) * target(n).max(1).values
        loss = (q(s).gather(1, a.long()[:, None])[:, 0] - goal).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if t % 50 == 0:
        target.load_state_dict(q.state_dict())
print(float(sum(p.sum() for p in q.parameters())), float(torch.rand(())), len(memory))
"""
SYNC = "        target.load_state_dict(q.state_dict())\n"

BACKWARD = """
import torch

torch.manual_seed(0)
w = torch.ones(3, requires_grad=True)
y = w.exp()
z = (y * 2).sum()
z.backward()
print(float(w.grad.sum()))
"""


COIN = """
class Coin:
    def reset(self):
        return 0.0

    def step(self, action):
        return 0.0, 1.0, True

coin = Coin()
for _ in range(3):
    coin.reset()
    coin.step(1)
"""


def load(name):
    spec = importlib.util.spec_from_file_location(f"peer_{name}", PEERS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def ask(name, *, entry="main.py", **case):
    """What a peer says of the program in the working directory; in this process, for torch takes long to load."""
    peer = load(name)
    report = peer.answer.__globals__["ask"](peer.judge, peer.Case(entry, **case))
    assert set(report) == {"findings", "not_applicable"}
    assert isinstance(json.loads(json.dumps(report)), dict)
    for each in report["findings"]:
        assert set(each) == {"code", "component", "severity", "message", "where"}
        assert each["component"] in ("", *COMPONENTS)
        assert each["severity"] in SEVERITIES
        assert set(each["where"]) == {"file", "line", "env_step"}
    return report


def codes(report):
    return [each["code"] for each in report["findings"]]


def write(text, name="main.py"):
    Path(name).write_text(text)


@pytest.mark.parametrize("name", NAMES)
def test_every_peer_says_what_it_is_and_how_it_is_asked(name):
    text = load(name).__doc__
    assert f"python {name}.py CASE.json REPORT.json" in text


@pytest.mark.parametrize("name", ["gymnasium_checker", "sb3_checker"])
def test_env_checkers(name):
    if name == "sb3_checker":
        pytest.importorskip(
            "stable_baselines3", reason="Stable-Baselines3 is in the extra `sb3`, which is not installed"
        )
    write(CORRIDOR, "corridor.py")
    asked = {"env_check": {"target": "corridor.py:Corridor"}}
    assert codes(ask(name, **asked)) == []
    write(CORRIDOR.replace("1.0], dtype", "99.0], dtype"), "corridor.py")
    (found,) = ask(name, **asked)["findings"][:1]
    assert (found["component"], found["severity"], found["where"]["file"]) == ("environment", "error", "corridor.py")
    assert ask(name)["not_applicable"]


def test_detect_anomaly_names_the_forward_line():
    write(BACKWARD)
    assert codes(ask("detect_anomaly")) == []
    write(BACKWARD.replace("z.backward()", "y.add_(1)\nz.backward()"))
    (found,) = ask("detect_anomaly")["findings"]
    assert (found["component"], found["where"]["file"], found["where"]["line"]) == ("autograd-graph", "main.py", 6)
    write(BACKWARD.replace("y = w.exp()", "y = (w - 1).sqrt() * 0"))
    (found,) = ask("detect_anomaly")["findings"]
    assert (found["code"], found["where"]["line"]) == ("anomaly-nan", 6)


def test_detect_anomaly_leaves_other_crashes_to_the_program():
    write(BACKWARD + "raise ValueError('no such thing')\n")
    assert codes(ask("detect_anomaly")) == []


def test_return_interval():
    def measured(*own):
        return {"measured": {"healthy": [100, 110, 90, 105, 95], "this": list(own), "random": 10.0}}

    assert codes(ask("return_interval", **measured(92, 99, 97))) == []
    assert codes(ask("return_interval", **measured(60, 70, 65))) == ["return-below-interval"]
    assert codes(ask("return_interval", **measured(100, None, None))) == ["return-below-interval"]
    assert codes(ask("return_interval", **measured(70))) == ["return-below-interval"]
    assert ask("return_interval", **measured())["not_applicable"]


def test_rlexplorer_sees_a_target_network_that_stands_still():
    write(CORRIDOR, "corridor.py")
    write(Q_LEARNING)
    sound = codes(ask("rlexplorer"))
    write(Q_LEARNING.replace(SYNC, "        pass\n"))
    broken = codes(ask("rlexplorer"))
    assert not [each for each in sound if "agent-target" in each]
    assert "rlexplorer-agent-target-not-updated" in broken
    assert not [each for each in sound if "nan" in each]


def test_rlexplorer_puts_numbers_that_are_none_first():
    write(CORRIDOR, "corridor.py")
    write(Q_LEARNING.replace("range(350)", "range(90)").replace(".mean()\n", ".mean() * float('nan')\n"))
    report = ask("rlexplorer", env_check={"target": "corridor.py:Corridor"})
    assert report["findings"][0]["severity"] == "error"
    assert codes(report)[0] == "rlexplorer-loss-nan"


@pytest.mark.parametrize("name", ["rldoctor", "rlprobe"])
def test_doctors_read_what_the_program_would_have_logged(name):
    write(CORRIDOR, "corridor.py")
    broken = "    (loss * (t < 99 or float('nan'))).backward()"
    write(Q_LEARNING.replace("range(350)", "range(200)").replace("    loss.backward()", broken))
    report = ask(name)
    if importlib.util.find_spec({"rldoctor": "rl_doctor"}.get(name, name)) is None:
        assert report["not_applicable"]
    else:
        assert "optimizer" in [each["component"] for each in report["findings"]]


def test_agilerl_cannot_be_asked():
    assert "AgileRL agents" in ask("agilerl")["not_applicable"]


def test_recorder_changes_nothing(capsys):
    write(CORRIDOR, "corridor.py")
    write(Q_LEARNING)
    kept = Path.cwd()
    peer = load("rlexplorer")
    recorder = peer.Recorder()
    assert peer.run_program(peer.Case("main.py"), recorder) is None
    watched = capsys.readouterr().out
    sys.path.insert(0, str(kept))
    try:
        exec(compile(Q_LEARNING, "main.py", "exec"), {"__name__": "__main__"})
    finally:
        sys.path.remove(str(kept))
        sys.modules.pop("corridor")
    assert watched == capsys.readouterr().out
    assert recorder._errors == 0
    log = recorder.log
    assert (log.env_steps, log.updates) == (350, 318)
    assert log.epsilons[0] == (0, 1.0)
    assert len(log.training()) == 1
    rows = peer.answer.__globals__["rows"](log)
    assert len(rows) == log.updates
    assert rows[-1]["reward"] == pytest.approx(1.0, abs=1.0)


def test_environment_that_only_looks_like_one_is_recorded():
    write(COIN)
    peer = load("rlexplorer")
    recorder = peer.Recorder()
    assert peer.run_program(peer.Case("main.py"), recorder) is None
    (stream,) = recorder.log.streams
    assert (stream.reward, stream.ended) == ([1.0] * 3, [True] * 3)


def test_program_that_does_not_end_is_stopped():
    write("while True:\n    pass\n")
    assert "optimizer step" in ask("rlexplorer", cpu_seconds=0.1)["not_applicable"]


def test_contract_on_the_command_line(tmp_path):
    case = {"entry": "main.py", "args": [], "env_check": {}, "probe": {}, "cpu_seconds": 40}
    case["measured"] = {"healthy": [1.0, 1.1, 0.9], "this": [0.0, 0.0], "random": 0.0}
    (tmp_path / "case.json").write_text(json.dumps(case))
    done = subprocess.run([sys.executable, str(PEERS / "return_interval.py"), "case.json", "report.json"], check=True)
    assert done.returncode == 0
    assert codes(json.loads((tmp_path / "report.json").read_text())) == ["return-below-interval"]
