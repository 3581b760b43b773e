"""rldebug run, as a user calls it. Programs with torch take seconds to start: each run here is asked many things."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from rldebug import commands
from rldebug.commands.run import _hooks, _severity, _share
from rldebug.config import Config
from rldebug.finding import Finding, Report
from rldebug.lookout import Stopped
from rldebug.recorded import examine, recorded
from rldebug.render.json import schema
from rldebug.run import Watched, exit_status
from rldebug.wishes import Wishes
from tests.commands.conftest import SOUND, write_run

PROGRAMS = Path(__file__).parents[1] / "run_programs"
RUNS = Path(".rldebug/runs")


def run(*words, before=("-m", "rldebug", "run"), **environment):
    command = [sys.executable, *before, *map(str, words)]
    given = {**os.environ, "OMP_NUM_THREADS": "1", **environment}
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=given)


@pytest.mark.parametrize(
    ("words", "wishes"),
    [
        ("run train.py --seed 1", {"program": ("train.py", "--seed", "1")}),
        ("run --quiet --folder here -- x", None),
        ("run --live --name a train.py --quiet", {"program": ("train.py", "--quiet"), "live": True, "name": "a"}),
        ("run --folder here train.py", {"program": ("train.py",), "folder": Path("here")}),
        ("run --json x train.py", None),
        ("run -m package", None),
        ("run", None),
        ("run --quiet", None),
        ("report run", None),
    ],
)  # fmt: skip
def test_few_options_need_no_parser(words, wishes, monkeypatch):
    asked = []
    monkeypatch.setattr("rldebug.run.run", asked.append)
    commands._run_at_once(words.split())
    assert asked == ([] if wishes is None else [Wishes(**wishes)])


def alone(*words):
    return run(*words, before=())


def line_of(text):
    lines = (PROGRAMS / "learner.py").read_text(encoding="utf-8").splitlines()
    return next(i for i, each in enumerate(lines, 1) if text in each)


def checked(text):
    report = json.loads(text)
    jsonschema.validate(report, schema(), cls=jsonschema.Draft202012Validator)
    return report


# ── programs that learn ─────────────────────────────────────────────────────────────────────────────────────────────


def test_a_finding_is_reported_after_the_programs_own_words():
    words = (PROGRAMS / "learner.py", 60, "late-nan")
    options = ("--fail-on", "error", "--json", "out.json", "--html", "page.html", "--name", "mine")
    said, plain = run(*options, *words, OMP_NUM_THREADS="2"), alone(*words)
    assert said.returncode == 3
    assert said.stdout == plain.stdout  # the weights, bit for bit
    assert said.stdout.endswith(" 1\n")  # threads: the program sets them, before it imports torch
    assert "error[GRA001]: a gradient is not finite" in said.stderr
    assert "dbg.update" not in said.stderr  # nobody hands anything over here
    report = checked(Path("out.json").read_text(encoding="utf-8"))
    assert (report["command"], report["exit"]) == ("run", 3)
    assert "GRA001" in [each["code"] for each in report["findings"]]
    assert "GRA001" in Path("page.html").read_text(encoding="utf-8")
    assert "GRA001" in (RUNS / "mine" / "findings.jsonl").read_text(encoding="utf-8")
    meta = json.loads((RUNS / "mine" / "run.json").read_text(encoding="utf-8"))
    assert meta["state"] == "finished"
    assert meta["command"] == [sys.executable, *map(str, words)]
    assert meta["updates"] == 60


def test_a_crash_leaves_the_traceback_as_it_is_and_is_diagnosed():
    said = run("--json", "-", PROGRAMS / "learner.py", 20, "shape")
    assert said.returncode == 1
    first, second, *_ = said.stderr.splitlines()
    assert first == "Traceback (most recent call last):"
    assert second == f'  File "{PROGRAMS / "learner.py"}", line {line_of("net(torch.randn(16, 4))")}, in <module>'
    traceback, _, rest = said.stderr.partition("\nRuntimeError: mat1 and mat2 shapes cannot be multiplied")
    assert "rldebug" not in traceback.replace(str(PROGRAMS), "")
    assert "rules ran" in rest
    report = checked(said.stdout)
    assert report["exit"] == 1
    seen = recorded(RUNS / "learner")
    assert seen.crash is not None
    assert seen.run.meta["state"] == "crashed"
    assert "mat1 and mat2" in seen.run.meta["error"]


def test_a_program_is_timed_too_where_that_is_asked_for(rldebug):
    said = run("--profile", "--json", "out.json", PROGRAMS / "learner.py", 60, "late-nan")
    assert said.returncode == 0
    assert "error[GRA001]: a gradient is not finite" in said.stderr
    for bar in ("60 updates", "backward", "optimizer", "no GPU"):
        assert bar in said.stderr
    report = checked(Path("out.json").read_text(encoding="utf-8"))
    assert {"GRA001", "PRF900"} <= {*report["checked"]}
    assert report["broken"] == {}
    seen = recorded(RUNS / "learner")
    assert seen.timing.updates == seen.run.meta["updates"] == 60
    assert seen.timing.problems == ()
    assert (RUNS / "learner" / "yardstick.json").exists()
    assert [each.name for each in seen.timing.networks] == ["net"]
    again = rldebug("report", "learner")
    assert "error[GRA001]" in again.out


def test_a_killed_program_is_finished_by_the_report(rldebug):
    said = run(PROGRAMS / "learner.py", 40, "nan", "killed")
    assert said.returncode == -9
    assert said.stderr == ""
    meta = json.loads((RUNS / "learner" / "run.json").read_text(encoding="utf-8"))
    assert (meta["state"], meta["seed"], meta["optimizers"]) == ("running", 0, {"optimizer": "SGD"})
    report = rldebug("report", "learner")
    assert "error[GRA001]" in report.out
    assert "the program was killed, or its machine went down" in " ".join(report.out.split())


def test_of_a_killed_program_the_seed_and_the_environment_are_known():
    program = [
        "import os, gymnasium, torch",
        "torch.manual_seed(41)",
        "env, net = gymnasium.make('CartPole-v1'), torch.nn.Linear(4, 2)",
        "optimizer = torch.optim.SGD(net.parameters(), lr=0.01)",
        "for update in range(30):",
        "    obs, _ = env.reset()",
        "    for _ in range(8): env.step(int(net(torch.as_tensor(obs)).argmax()))",
        "    net(torch.as_tensor(obs)).sum().backward()",
        "    optimizer.step()",
        "os.kill(os.getpid(), 9)",
    ]
    Path("shot.py").write_text("\n".join(program), encoding="utf-8")
    assert run("--quiet", "shot.py").returncode == -9
    meta = json.loads((RUNS / "shot" / "run.json").read_text(encoding="utf-8"))
    assert (meta["state"], meta["seed"], meta["env"]["id"]) == ("running", 41, "CartPole-v1")
    assert list(meta["modules"].values()) == [10]


def test_a_program_is_stopped_where_that_was_asked_for():
    said = run("--live", "--stop-on", "error", "--quiet", PROGRAMS / "actor.py", 60)
    assert said.returncode == 3
    assert said.stdout == "cleaned up\n"  # what it has in `finally`
    assert "rldebug: error[GRA001] a gradient is not finite" in said.stderr  # --live
    assert "rldebug: the program was stopped: error[GRA001]" in said.stderr
    assert "Traceback" not in said.stderr
    assert recorded(RUNS / "actor").run.meta["state"] == "stopped"


def test_os_exit_record_only_and_what_others_do():
    words = ("--record-only", "--without", "threads", "--overhead-budget", "1%", "--folder", "kept")
    said = run(*words, PROGRAMS / "learner.py", 30, "_exit", RANK="1", WORLD_SIZE="2")
    assert said.returncode == 5
    assert said.stderr == ""  # the first rank speaks for all
    seen = recorded(Path("kept/learner-rank1"))
    assert seen.run.meta["how"] == "os._exit(5)"
    assert seen.run.updates > 20
    assert not (Path("kept/learner-rank1") / "findings.jsonl").exists()
    alone, missing = seen.problems
    assert alone == "one job of 2 ranks: this is of rank 1; there is no other to compare it with"
    assert missing.startswith("rank 0 of 2 left no folder")


# ── programs without torch ──────────────────────────────────────────────────────────────────────────────────────────


def test_options_end_where_the_program_begins():
    words = (PROGRAMS / "about.py", "--json", "x", "--help", "--", "-m", "y")
    for before in (("-m", "rldebug", "run"), ("-m", "rldebug", "run", "--quiet", "--name", "n", "--")):
        said = run(*words, before=before)
        assert said.returncode == 0, said.stderr
        about = json.loads(said.stdout)
        assert about["argv"][1:] == list(words[1:])
        assert about == {**json.loads(alone(*words).stdout)}
    assert said.stderr == ""
    assert not RUNS.exists()  # nothing was watched, nothing is kept


def test_nothing_to_watch_is_said_and_json_written():
    said = run("--json", "out.json", PROGRAMS / "endings.py", "status", "4")
    assert said.returncode == 4
    assert said.stderr == "rldebug: the program did not import torch: there was nothing to watch\n"
    assert checked(Path("out.json").read_text(encoding="utf-8"))["exit"] == 4


def test_a_crash_before_torch_is_a_crash_all_the_same():
    words = (PROGRAMS / "endings.py", "chained")
    said = run(*words)
    assert said.returncode == 1
    assert said.stderr.startswith(alone(*words).stderr)
    seen = recorded(RUNS / "endings")
    assert seen.crash is not None
    assert "KeyError" in seen.run.meta["error"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("trian.py",), "rldebug: trian.py: no such file; did you mean train.py?"),
        ((), "rldebug: what is to be run?"),
        (("--fail-on", "note", "train.py"), "rldebug: --fail-on is 'note', expected warning or error"),
        (("--overhead-budget", "much", "train.py"), "rldebug: --overhead-budget is 'much', expected a share"),
        (("--without", "nothing", "train.py"), "rldebug: --without nothing: expected one of environments, networks"),
        (("--json", "no/such/x.json", "train.py"), "rldebug: no/such: no such folder"),
        (("--no-such-option", "train.py"), "No such option"),
        (("--select", "nonfinite-gradent", "train.py"), "did you mean nonfinite-gradient"),
    ],
)
def test_what_cannot_be_run(words, said, rldebug):
    Path("train.py").write_text("raise SystemExit('was run')\n", encoding="utf-8")
    done = rldebug("run", *words)
    assert done.status == 2
    assert said in done.err
    assert "was run" not in done.err


def test_options_in_words():
    assert (_share("3%"), _share("0.05"), _share(None)) == (0.03, 0.05, None)
    assert _severity("warning", "--stop-on") == "warning"
    assert _hooks(["backward"]) == ("backward",)


@pytest.mark.parametrize(
    ("error", "how", "status"),
    [
        (None, "", 0),
        (SystemExit(), "", 0),
        (SystemExit(300), "", 44),
        (SystemExit("words"), "", 1),
        (ValueError(), "", 1),
        (KeyboardInterrupt(), "", 130),
        (None, "os._exit(-1)", 255),
        (None, "SIGTERM", 143),
    ],
)
def test_the_status_as_the_interpreter_has_it(error, how, status):
    assert exit_status(error, how) == status


# ── looking while it runs ───────────────────────────────────────────────────────────────────────────────────────────


def finding(code, severity, confidence, follows=()):
    texts = {"message": "m", "seen": "s", "expected": "e", "help": "h"}
    name, component = "n", "optimizer"
    return Finding(code, name, component, severity, confidence=confidence, follows=follows, **texts)


@pytest.fixture
def looks(monkeypatch):
    """What the rules say at each look, one after the other."""
    reports: list[list[Finding]] = []
    monkeypatch.setattr("rldebug.recorded.recorded", lambda folder, text: None)
    monkeypatch.setattr("rldebug.recorded.examine", lambda *_, **__: Report("run", findings=tuple(reports.pop(0))))
    monkeypatch.setattr("rldebug.lookout._FIRST_LOOK", 0.0)

    def look(*findings, **wishes):
        watched = Watched(Wishes(("train.py",), **wishes), Config())
        watched.folder = Path()
        reports[:] = [list(each) for each in findings]
        seen = []
        for _ in findings:
            watched.lookout.next_look = 0.0
            try:
                watched.look()
                seen.append("")
            except Stopped as stop:
                seen.append(str(stop))
        assert not watched.broken
        return watched, seen

    return look


def test_it_is_stopped_by_what_is_certain(looks):
    sure, unsure = finding("OPT001", "error", 0.99), finding("OPT002", "error", 0.8)
    mild, under = finding("OPT003", "warning", 0.99), finding("OPT004", "error", 0.99, follows=("OPT003",))
    assert looks([], [sure], stop_on="error")[1] == ["", "error[OPT001] m"]
    assert looks([unsure], [], [unsure], [unsure], stop_on="error")[1] == ["", "", "", "error[OPT002] m"]
    assert looks([mild, under], stop_on="error")[1] == [""]
    assert looks([mild], stop_on="warning")[1] == ["warning[OPT003] m"]
    assert looks([finding("OPT005", "note", 1.0)], stop_on="warning", live=True)[1] == [""]


def test_what_is_found_is_said_once(looks, capsys):
    sure = finding("OPT001", "error", 0.99)
    looks([sure], [sure], live=True)
    assert capsys.readouterr().err == "rldebug: error[OPT001] m ()\n"


def test_one_that_catches_everything_is_stopped_all_the_same(looks, monkeypatch):
    watched, _ = looks([finding("OPT001", "error", 0.99)], stop_on="error")
    assert not issubclass(Stopped, Exception)
    left = []
    monkeypatch.setattr(os, "_exit", left.append)
    for _ in range(20):
        with pytest.raises(Stopped):  # at every look, without another diagnosis
            watched.look()
    assert set(left) == {3}


def test_a_look_that_fails_is_the_last_word_of_nobody(looks):
    watched, _ = looks(stop_on="error")
    watched.lookout.next_look = 0.0
    watched.look()  # nothing to pop: the diagnosis raises
    assert "IndexError" in watched.broken["looking while it runs"]


PATIENT = """
import os, time, torch
net = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
end = time.monotonic() + 90
while not os.path.exists("heard") and time.monotonic() < end:
    optimizer.zero_grad()
    (net(torch.randn(4, 3)).mean() * float("nan")).backward()
    optimizer.step()
    time.sleep(0.01)
print("heard" if os.path.exists("heard") else "nobody has heard of it")
"""


def test_what_is_found_is_said_while_the_program_runs_also_into_a_pipe():
    Path("patient.py").write_text(PATIENT, encoding="utf-8")
    command = [sys.executable, "-m", "rldebug", "run", "--live", "--quiet", "patient.py"]
    given = {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=given) as program:
        first = program.stderr.readline()
        Path("heard").touch()
        out, err = program.communicate(timeout=60)
    assert first.startswith("rldebug: error[GRA001] a gradient is not finite (")
    assert out == "heard\n"
    assert "rldebug: error[GRA001]" not in err  # once
    assert "error[GRA001]: a gradient is not finite" in err
    assert "while it runs" not in err


def test_what_another_process_found_is_said_once_and_that_it_died(monkeypatch, capsys):
    class Looking:
        failed, due, closed = "", 0.0, False

        def poll(self):
            return reports.pop(0) if reports else None

        def close(self):
            self.closed = True

    sure, unsure = finding("OPT001", "error", 0.99), finding("OPT002", "warning", 0.8)
    reports = [Report("run", findings=each) for each in ((sure, unsure), (sure,), (unsure,), (unsure,), (unsure,))]
    watched = Watched(Wishes(("train.py",), live=True), Config())
    assert watched.lookout.apart
    watched.lookout.looking = Looking()
    for _ in range(6):
        assert watched.lookout.hear() == 0.0
    assert capsys.readouterr().err == "rldebug: error[OPT001] m ()\nrldebug: warning[OPT002] m ()\n"
    monkeypatch.setattr(Looking, "failed", "it has died")
    watched.end("")
    assert watched.problems == ["looking while it runs stopped: it has died"]
    assert watched.lookout.looking.closed


@pytest.mark.parametrize("more", [{"live": False}, {"stop_on": "error"}, {"ignore": ("OPT001",)}, {"record_only": 1}])
def test_what_another_process_cannot_do_is_done_here(more):
    assert not Watched(Wishes(("train.py",), **{"live": True, **more}), Config()).lookout.apart


# ── what is in a folder ─────────────────────────────────────────────────────────────────────────────────────────────


def folder(meta, *lines):
    place = Path("made")
    place.mkdir()
    (place / "run.json").write_text(json.dumps({"format": 1, "name": "made", **meta}), encoding="utf-8")
    (place / "script.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    return place


def started(what, does):
    return {"kind": "thread", "what": what, "does": does, "line": ["train.py", 3]}


def test_processes_that_were_not_watched_are_named():
    place = folder(
        {"state": "finished"},
        started("process", "__main__.actor"),
        started("process", "gymnasium.vector.async_vector_env._async_worker"),
        started("thread", "__main__.logger"),
    )
    (problem,) = recorded(place).problems
    assert problem == "processes that the program started (actor) were not watched: what they do is not in this report"


@pytest.mark.parametrize(
    ("pid", "said"),
    [(os.getppid(), r"the program is still running \(process \d+\)"), (2**22 + 1, "the program was killed")],
)
def test_how_a_run_stands(pid, said, rldebug):
    place = folder({"state": "running", "pid": pid}, {"thing": "counts", "key": "all", "updates": 1})
    assert re.match(said, recorded(place).problems[0])
    assert re.search(said, " ".join(rldebug("report", place).out.split()))


def test_a_run_without_a_step_cannot_be_judged(rldebug):
    place = folder({"state": "running", "pid": 2**22 + 1}, {"thing": "counts", "key": "all", "updates": 0})
    told = rldebug("report", place)
    assert told.status == 2
    assert "nothing to check" in told.err
    assert "was killed" in told.err


def test_a_watched_program_is_not_asked_to_hand_over():
    place = write_run(Path("sound"), SOUND)
    by_hand = examine(recorded(place), Config(), "report")
    (place / "script.jsonl").touch()
    watched = examine(recorded(place), Config(), "report")
    assert any("dbg." in each for each in by_hand.skipped.values())
    assert watched.skipped.keys() >= by_hand.skipped.keys()
    assert not any(each.startswith("needs `") and "dbg." in each for each in watched.skipped.values())
