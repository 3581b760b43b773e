import json
from pathlib import Path

import jsonschema
import pytest

from rldebug.evidence.ladder_file import read_ladders
from rldebug.render.json import schema

AGENT = """
from tests.probes.tabular import Tabular

def sound(make_env):
    return Tabular(make_env)

def blind(make_env):
    return Tabular(make_env, wrong="blind")
"""
ONE = ("--jobs", "1", "--seeds", "3")


@pytest.fixture(autouse=True)
def agent():
    Path("some_agent.py").write_text(AGENT, encoding="utf-8")


def test_a_clean_climb(rldebug):
    said = rldebug("probe", "some_agent.py:sound", "--first", 2, *ONE)
    assert said.status == 0, said.out + said.err
    assert "constant-reward" in said.out
    assert "✓ passed" in said.out


def test_a_failed_rung_in_the_terminal_as_json_and_as_a_page(rldebug):
    said = rldebug(
        "probe", "some_agent.py:blind", "--probes", "observed-reward", *ONE, "--json", "r.json", "--page", "p.html"
    )
    assert said.status == 1
    assert "✗ failed" in said.out
    report = json.loads(Path("r.json").read_text(encoding="utf-8"))
    jsonschema.validate(report, schema(), cls=jsonschema.Draft202012Validator)
    assert report["command"] == "probe"
    assert report["exit"] == 1
    [rung] = report["program"]["rungs"]
    assert (rung["name"], rung["outcome"]) == ("observed-reward", "failed")
    assert "observed-reward" in Path("p.html").read_text(encoding="utf-8")


def test_json_on_stdout_is_pure(rldebug):
    said = rldebug("probe", "some_agent.py:sound", "--probes", "constant-reward", *ONE, "--json", "-")
    assert json.loads(said.out)["exit"] == 0


def test_the_list(rldebug):
    said = rldebug("probe", "--list")
    assert said.status == 0
    assert said.out.splitlines()[0].split()[:2] == ["1", "constant-reward"]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "what is to be probed?"),
        (["some_agent.py:sond"], "did you mean sound?"),
        (["some_agent.py:sound", "--probes", "constant"], "no probe called constant"),
        (["some_agent.py:sound", "--probes", "constant-reward", "--first", "2"], "--probes and --first"),
        (["some_agent.py:sound", "--setting", "lr"], "--setting lr: expected NAME=VALUE"),
        (["some_agent.py:sound", "--setting", "lr=1"], "takes no 'lr'"),
        (["some_agent.py:sound", "--can", "fly"], "no ability is called fly"),
        (["some_agent.py:sound", "--gamma", "2"], "gamma is 2"),
        (["some_agent.py:sound", "--", "--lr"], "only a script takes arguments"),
        (["none.py", "--env-flag", "--env-id"], "none.py: no such file"),
        (["some_agent.py", "--env-flag", "--env-id", "--defaults"], "a script's settings are its own arguments"),
        (["algo:ppo", "--setting", "gama=1"], "no setting 'gama': did you mean gamma"),
    ],
    ids=["none", "name", "probe", "both", "pair", "setting", "ability", "gamma", "args", "file", "script", "algo"],
)
def test_it_could_not_run(rldebug, arguments, text):
    said = rldebug("probe", *arguments)
    assert said.status == 2
    assert text in said.err
    assert "bug in rldebug" not in said.err


def test_a_script_with_arguments_of_its_own(rldebug):
    Path("train.py").write_text(
        "import random, sys, gymnasium\n"
        "assert sys.argv[1::2] == ['--env', '--good']\n"
        "env = gymnasium.make(sys.argv[2])\n"
        "while True:\n"
        "    env.reset()\n"
        "    env.step(int(random.random() < float(sys.argv[4])))\n",
        encoding="utf-8",
    )
    command = ("probe", "train.py", "--env-flag", "--env", "--probes", "action-reward", *ONE, "--", "--good")
    right, wrong = rldebug(*command, "0.9"), rldebug(*command, "0.1")
    assert (right.status, wrong.status) == (0, 1), right.out + right.err + wrong.out + wrong.err


def test_the_last_climb_is_kept(rldebug):
    for which in ("observed-reward", "constant-reward"):
        rldebug("probe", "some_agent.py:blind", "--probes", which, *ONE)
    [kept] = read_ladders(Path(".rldebug/probes"))
    assert (kept.target, kept.problem) == ("some_agent.py:blind", "")
    assert [(each.name, each.outcome) for each in kept.ladder.rungs] == [("constant-reward", "passed")]
    assert kept.report.exit == 0


def test_a_folder_that_cannot_be_written_costs_a_line(rldebug):
    Path(".rldebug").write_text("in the way", encoding="utf-8")
    said = rldebug("probe", "some_agent.py:sound", "--probes", "constant-reward", *ONE)
    assert said.status == 0
    assert len([line for line in said.err.splitlines() if "the climb is not kept" in line]) == 1
    assert "✓ passed" in said.out
