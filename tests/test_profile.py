"""rldebug profile in this process, as far as it goes without a program; the rest is in commands/test_profile.py."""

import dataclasses
import json
import sys
from pathlib import Path

import gymnasium as gym
import pytest
import torch
from torch import nn

from rldebug import profile as module
from rldebug.config import Config, ConfigError
from rldebug.launch import run_as_main
from rldebug.profile import Asked, Enough, Timed, profile

ASKED = Asked(("train.py",), yardstick=False)


@pytest.fixture
def timed():
    made = []

    def make(**changes):
        made.append(Timed(dataclasses.replace(ASKED, **changes), Config()))
        return made[-1]

    yield make
    for each in made:
        if each._profiling is not None:
            each._profiling.stopwatch.sampler.stop()
            each._switch.undo()


def trains(updates=300):  # long enough for a sample, also on a quick machine
    env = gym.make("CartPole-v1")
    net = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    env.reset(seed=0)
    for _ in range(updates):
        for action in (0, 1):
            if env.step(action)[2]:
                env.reset()
        net(torch.randn(256, 4)).square().mean().backward()
        optimizer.step()


def test_it_ends_with_a_report_and_leaves_nothing_in_place(timed, capsys):
    before = torch.autograd.backward
    each = timed()
    each.begin()
    assert torch.autograd.backward is not before
    trains(100)
    assert each.end("") is None
    assert torch.autograd.backward is before
    assert "100 updates" in capsys.readouterr().err
    meta = json.loads((each.folder / "run.json").read_text())
    assert (meta["state"], meta.get("broken")) == ("finished", {})


@pytest.mark.parametrize(
    ("how", "error", "state"),
    [
        ("", None, "finished"),
        ("os._exit(2)", None, "stopped"),
        ("", Enough(), "stopped"),
        ("", KeyError("x"), "crashed"),
        ("", SystemExit(3), "finished"),
    ],
)
def test_how_it_ended_is_kept(how, error, state, timed, capsys):
    each = timed(quiet=True)
    each.begin()
    trains(3)
    if error is not None:
        assert each.came_out(error) == (0 if isinstance(error, Enough) else 1)
    each.end(how)
    assert json.loads((each.folder / "run.json").read_text())["state"] == state
    assert ("KeyError" in capsys.readouterr().err) is (state == "crashed")


def test_a_program_that_failed_before_it_imported_torch_is_not_timed(timed, capsys):
    each = timed()
    each.came_out(ImportError("no such thing"))
    each.begin()
    assert each.folder is None
    each.end("")
    assert capsys.readouterr().err.endswith("the program did not import torch: there was nothing to time\n")


@pytest.mark.filterwarnings("ignore:rldebug. recording to")
def test_a_folder_that_cannot_be_written_is_said(timed, capsys):
    each = timed(folder=Path("file"))
    Path("file").write_text("")
    each.begin()
    trains(2)
    each.end("")
    said = capsys.readouterr().err
    assert said.startswith("rldebug: not timed: NotADirectoryError: ")
    assert "nothing to time" not in said


def test_what_kept_it_from_being_timed_is_said(timed, capsys, monkeypatch):
    monkeypatch.setattr("rldebug.capture.profiling.Profiling.install", lambda *args, **kwargs: 1 / 0)
    each = timed()
    each.begin()
    trains(2)
    each.end("")
    assert capsys.readouterr().err == "rldebug: not timed: ZeroDivisionError: division by zero\n"


def test_a_report_that_fails_is_said_in_one_line(timed, capsys, monkeypatch):
    each = timed()
    each.begin()
    trains()
    monkeypatch.setattr("rldebug.timed.judged", lambda *args: 1 / 0)
    each.end("")
    assert capsys.readouterr().err == "rldebug: no report: ZeroDivisionError: division by zero\n"


def test_ctrl_c_at_the_report_ends_it(timed, capsys, monkeypatch):
    def interrupted(*args):
        raise KeyboardInterrupt

    each = timed()
    each.begin()
    trains()
    monkeypatch.setattr("rldebug.timed.judged", interrupted)
    each.end("")
    assert capsys.readouterr().err == "rldebug: no report, Ctrl-C was pressed\n"


def test_the_program_may_have_gone_elsewhere(timed, capsys, monkeypatch, tmp_path_factory):
    each = timed(json="r.json", files={"prof": Path("p.prof")}, quiet=True)
    here = Path.cwd()
    each.begin()
    trains(100)
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.chdir(elsewhere)
    each.end("")
    assert Path.cwd() == elsewhere
    assert json.loads((here / "r.json").read_text())["timing"]["updates"] == 100
    assert (here / "p.prof").exists()
    assert list(elsewhere.iterdir()) == []


def test_what_is_due_after_so_many_seconds_comes_out_of_the_program(timed):
    each = timed(seconds=0.5)
    each.begin()
    stopwatch = each._profiling.stopwatch
    stopwatch.sampler.stop()
    asked = []

    def ask(now, frame):
        stopwatch.sampler.raise_after = None
        each._stop_in_time(now, frame)
        asked.append((now, isinstance(stopwatch.sampler.raise_after, Enough)))

    def program(source, file):
        ask(100.0, sys._getframe())  # nothing was trained yet
        stopwatch.first = stopwatch.began + 10.0
        for now in (10.4, 10.6, 11.0, 15.0, 15.7):  # it has five seconds to clean up
            ask(now, sys._getframe())
        return compile("", file, "exec")

    Path("train.py").write_text("")
    before = sys.argv, sys.orig_argv, list(sys.path), sys.modules["__main__"]
    try:
        run_as_main(["train.py"], program)
    finally:
        sys.argv, sys.orig_argv, sys.path[:], sys.modules["__main__"] = before
    ask(100.0, sys._getframe())  # it is over, and somebody waits for its threads
    ask(100.0, None)
    expected = [(100.0, False), (10.4, False), (10.6, True), (11.0, False), (15.0, False), (15.7, True)]
    assert asked == [*expected, (100.0, False), (100.0, False)]


def test_a_misspelt_rule_is_said_before_anything_runs(monkeypatch):
    def wrong(names, config):
        raise ConfigError(f"no rule {names[0]}")

    def never(*args):
        raise AssertionError("it ran")

    Path("train.py").write_text("")
    monkeypatch.setattr(module, "check_names", wrong)
    monkeypatch.setattr(module, "run_to_its_end", never)
    with pytest.raises(ConfigError, match="no rule PRF000"):
        profile(ASKED, Config(select=("PRF000",)))
