"""rldebug profile, as a user calls it. Programs with torch take seconds to start: each run is asked many things."""

from __future__ import annotations

import ast
import json
import os
import pstats
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import pytest

from rldebug.evidence.timings.reading import read_timing
from rldebug.profile import Asked, check_places
from rldebug.render.json import schema

RUNS = Path(".rldebug/runs")
PROGRAM = """
import io
import sys
import time

import torch
from torch import nn


class Walk:
    def reset(self):
        self.place = 0
        return torch.zeros(4)

    def step(self, action):
        self.place += 1
        time.sleep(0.0005)
        return torch.full((4,), self.place / 20), 1.0, self.place >= 20, {}


def main(updates, ways):
    torch.manual_seed(0)
    env, net = Walk(), nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    obs = env.reset()
    print("begins", flush=True)
    update = 0
    while update != updates:
        terms = []
        for _ in range(8):
            out = net(obs)
            obs, reward, done, info = env.step(out.argmax())
            terms.append(out.sum() * reward)
            if done:
                obs = env.reset()
        loss = torch.stack(terms).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        update += 1
        for _ in range(6):
            torch.save(net.state_dict(), io.BytesIO())
        if "fails" in ways and update == 40:
            raise KeyError("mine")
        if "leaves" in ways and update == 40:
            sys.exit(3)
    print("weights", sum(each.sum().item() for each in net.parameters()))


main(int(sys.argv[1]), sys.argv[2:])
"""


@pytest.fixture(autouse=True)
def program():
    Path("train.py").write_text(PROGRAM)


def command(*words):
    return [sys.executable, "-m", "rldebug", "profile", *map(str, words)]


def run(*words):
    env = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "100"}
    return subprocess.run(command(*words), capture_output=True, text=True, timeout=120, check=False, env=env)


def checked(text):
    report = json.loads(text)
    jsonschema.validate(report, schema(), cls=jsonschema.Draft202012Validator)
    return report


# ── programs that learn ─────────────────────────────────────────────────────────────────────────────────────────────


def test_where_the_time_went_is_told_and_written(rldebug):
    files = ("--html", "p.html", "--speedscope", "p.json", "--trace", "t.json", "--prof", "p.prof", "--json", "r.json")
    said = run("--no-yardstick", "--name", "mine", *files, "train.py", 120)
    assert said.returncode == 0
    assert re.fullmatch(r"begins\nweights -?[\d.]+\n", said.stdout)
    for bar in ("simulator", "backward", "saving", "train.py:", "960 env steps", "120 updates", "1 torch thread"):
        assert bar in said.stderr
    report = checked(Path("r.json").read_text(encoding="utf-8"))
    assert (report["command"], report["exit"], report["broken"]) == ("profile", 0, {})
    told = report["timing"]
    assert (told["env_steps"], told["updates"]) == (960, 120)
    assert sum(told["parts"].values()) == pytest.approx(told["seconds"])
    assert told["parts"]["simulator"] > 0.2 * told["seconds"]  # it sleeps for half a second of two

    # What was written can be opened.
    assert "<html" in Path("p.html").read_text(encoding="utf-8")
    assert json.loads(Path("p.json").read_text())["profiles"]
    assert json.loads(Path("t.json").read_text())["traceEvents"]
    functions = [name for _, _, name in pstats.Stats("p.prof").stats]
    assert any(name.endswith("main") for name in functions)
    for name in ("page: p.html", "speedscope: p.json", "trace: t.json", "prof: p.prof"):
        assert name in said.stderr

    # The run is kept, and told again.
    timing = read_timing(RUNS / "mine")
    assert timing.problems == ()
    assert [each.name for each in timing.networks] == ["net"]
    assert [each.name for each in timing.environments] == ["Walk"]
    meta = json.loads((RUNS / "mine" / "run.json").read_text(encoding="utf-8"))
    assert meta["state"] == "finished"
    assert not meta.get("broken")
    codes = [each["code"] for each in report["findings"]]
    assert "PRF928" in codes  # far above its threshold, on a slow machine too
    again = rldebug("report", RUNS / "mine")
    assert [code for code in codes if f"[{code}]" in again.out] == codes


def test_an_endless_program_is_ended_in_time():
    said = run("--seconds", 0.5, "--no-yardstick", "--json", "-", "train.py", -1)
    assert said.returncode == 0
    assert "Traceback" not in said.stderr
    assert "simulator" in said.stderr
    begins, _, rest = said.stdout.partition("\n")
    assert begins == "begins"
    report = checked(rest)
    assert report["timing"]["seconds"] >= 0.4
    assert json.loads((RUNS / "train" / "run.json").read_text())["state"] == "stopped"


def test_ctrl_c_ends_it_and_what_it_did_until_then_is_told():
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": env}
    with subprocess.Popen(command("--no-yardstick", "train.py", -1), **given) as process:
        assert process.stdout.readline() == "begins\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT  # which a shell shows as 130
    traceback, _, rest = err.partition("\nKeyboardInterrupt\n")
    assert traceback.startswith("Traceback (most recent call last):")
    assert "rldebug" not in traceback
    assert "simulator" in rest


def test_a_program_that_fails_shows_its_own_traceback():
    said = run("--no-yardstick", "train.py", 60, "fails")
    assert said.returncode == 1
    traceback, _, rest = said.stderr.partition("\nKeyError: 'mine'\n")
    first, second, *_ = traceback.splitlines()
    assert first == "Traceback (most recent call last):"
    assert second == f'  File "{Path("train.py").absolute()}", line {1 + PROGRAM.count(chr(10), 0, -1)}, in <module>'
    assert "rldebug" not in traceback
    assert "simulator" in rest
    assert json.loads((RUNS / "train" / "run.json").read_text())["state"] == "crashed"


def test_a_status_of_its_own_is_kept_and_nothing_is_printed_where_that_is_wanted():
    said = run("--quiet", "--no-yardstick", "--folder", "kept", "train.py", 60, "leaves")
    assert (said.returncode, said.stdout, said.stderr) == (3, "begins\n", "")
    assert read_timing(Path("kept/train")).updates == 40


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("print('done')", "rldebug: the program did not import torch: there was nothing to time\n"),
        (
            "import torch\nprint('done')",
            "rldebug: no step of an environment or an optimizer was seen: there was nothing to time\n",
        ),
    ],
)
def test_a_program_that_does_not_train_is_said_not_to_in_one_line(text, said):
    Path("other.py").write_text(text)
    found = run("other.py")
    assert (found.returncode, found.stdout, found.stderr) == (0, "done\n", said)


# ── processes, signals and timers of the program's own ──────────────────────────────────────────────────────────────

BUSY = """
import multiprocessing
import os
import signal
import subprocess
import sys
import time

import torch
from torch import nn


def learn(queue=None):
    torch.manual_seed(1)
    net = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(50):
        net(torch.randn(8, 3)).square().mean().backward()
        optimizer.step()
    told = (net.weight.sum().item(), signal.getsignal(signal.SIGALRM) is rung, __name__)
    if queue is not None:
        queue.put(told)
    return told


def rung(number, frame):
    heard.append(signal.Signals(number).name)


heard = []
if __name__ == "__main__":
    signal.signal(signal.SIGALRM, rung)
    signal.signal(signal.SIGPROF, rung)
    signal.setitimer(signal.ITIMER_PROF, 0.05)
    signal.alarm(1)
    print(learn())
    began = time.monotonic()
    time.sleep(0.2)
    print("slept", 0.2 <= time.monotonic() - began < 2)
    for method in ("fork", "spawn"):
        context = multiprocessing.get_context(method)
        queue = context.SimpleQueue()
        process = context.Process(target=learn, args=(queue,))
        process.start()
        print(method, queue.get(), process.join(), process.exitcode)
    loader = torch.utils.data.DataLoader(torch.arange(6.0), batch_size=2, num_workers=1)
    print([each.tolist() for each in loader])
    print(subprocess.run([sys.executable, "-c", "print(1 + 1)"], capture_output=True, text=True).stdout)
    pid = os.fork()
    if pid == 0:
        learn()
        os._exit(5)
    print("child", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    while len(heard) < 2:
        learn()
    print(sorted(heard), signal.getsignal(signal.SIGTERM), flush=True)
    os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(0.1); print('another program')"])
"""


def test_processes_signals_and_timers_of_the_program_are_its_own():
    Path("busy.py").write_text(BUSY)
    said = run("--no-yardstick", "busy.py")
    assert said.returncode == 0, said.stderr
    first, *rest = said.stdout.splitlines()
    weights, *_ = ast.literal_eval(first)
    assert rest == [
        "slept True",
        f"fork ({weights}, True, '__main__') None 0",
        f"spawn ({weights}, False, '__mp_main__') None 0",
        "[[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]",
        "2",
        "",
        "child 5",
        f"['SIGALRM', 'SIGPROF'] {signal.SIG_DFL}",
        "another program",
    ]
    assert said.stderr.count("updates (") == 1  # one report, and not one of every child
    assert len(list(RUNS.iterdir())) == 1
    timing = read_timing(RUNS / "busy")
    assert timing.problems == ()
    assert timing.updates % 50 == 0  # those of this process alone


# ── what cannot be run ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["trian.py"], "trian.py: no such file; did you mean train.py?"),
        ([], "what is to be run?"),
        (["--html", "nowhere/page.html", "train.py"], "nowhere: no such folder"),
        (["--json", "nowhere/r.json", "train.py"], "nowhere: no such folder"),
        (["--prof", ".", "train.py"], ".: is a folder, expected the name of a file"),
        (["--folder", "train.py/runs", "train.py"], "train.py: is no folder"),
        (["--seconds", "0", "train.py"], "--seconds"),
        (["--seconds", "soon", "train.py"], "--seconds"),
        (["--flame", "train.py"], "--flame"),
    ],
)
def test_what_cannot_be_done_is_said_before_the_program_runs(words, said, rldebug):
    Path("train.py").write_text("raise SystemExit('it ran')")
    found = rldebug("profile", *words)
    assert found.status == 2
    assert said in " ".join(found.err.split())
    assert "it ran" not in found.err
    assert not RUNS.exists()


def test_a_place_that_may_not_be_written(monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "closed")
    Path("closed").mkdir()
    for asked in (Asked(("train.py",), folder=Path("closed/runs")), Asked(("train.py",), json="closed/r.json")):
        with pytest.raises(PermissionError, match="may not be written"):
            check_places(asked)
    check_places(Asked(("train.py",), folder=Path("open/runs"), json="-"))
