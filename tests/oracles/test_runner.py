"""A program under the runner is as it is without, but for one function."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rldebug.oracles.runner import definition
from rldebug.symptoms import command

SELF = """
import json, os, sys
import beside

def counted(x):
    return x + 1

class Thing:
    @staticmethod
    def still(x):
        return x

    @classmethod
    def made(cls, x):
        return cls.__name__ + str(x)

def about():
    main = sys.modules["__main__"]
    return {
        "argv": sys.argv, "name": __name__, "file": __file__, "path": sys.path[0], "cwd": os.getcwd(), "doc": __doc__,
        "main": main.about is about, "spec": main.__spec__, "beside": beside.NAME,
    }

if __name__ == "__main__":
    with open("about.json", "w") as file:
        json.dump({**about(), "sum": counted(1) + counted(2), "thing": [Thing.still(3), Thing().made(4)]}, file)
    sys.exit(7)
"""


@pytest.fixture
def run(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "beside.py").write_text("NAME = 'beside'\n", encoding="utf-8")
    (tmp_path / "sub" / "prog.py").write_text(SELF, encoding="utf-8")

    def call(*words, file="sub/prog.py", name="counted", **more):
        notes = tmp_path / f"notes{len(list(tmp_path.glob('notes*')))}"
        notes.mkdir()
        lines = Path(file).read_text(encoding="utf-8").splitlines()
        line = next(i for i, each in enumerate(lines, 1) if f"def {name}(" in each)
        while lines[line - 2].strip().startswith("@"):
            line -= 1
        orders = notes / "orders.json"
        told = {"file": os.path.realpath(file), "name": name, "line": line, "replace": False, "folder": str(notes)}
        orders.write_text(json.dumps(told), encoding="utf-8")
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **more}
        done = subprocess.run([*command(orders), *words], env=environment, capture_output=True, text=True, timeout=60)
        calls = notes / "calls"
        return done, calls.read_text(encoding="utf-8") if calls.exists() else "", notes

    return call


def test_a_script_sees_no_difference(run):
    plain = subprocess.run([sys.executable, "sub/prog.py", "--a", "b"], timeout=60)
    before = json.loads(Path("about.json").read_text(encoding="utf-8"))
    done, calls, _ = run("sub/prog.py", "--a", "b")
    after = json.loads(Path("about.json").read_text(encoding="utf-8"))
    assert done.returncode == plain.returncode == 7, done.stderr
    assert after == before
    assert after["sum"] == 5
    assert calls == ".."


@pytest.mark.parametrize("name", ["still", "made"])
def test_methods_of_a_class(run, name):
    done, calls, _ = run("sub/prog.py", name=name)
    assert done.returncode == 7, done.stderr
    assert calls == "."


def test_a_function_that_is_imported_from_a_package_run_as_a_module(run, tmp_path):
    package = tmp_path / "pkg"
    package.mkdir()
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "maths.py").write_text("def twice(x):\n    return 2 * x\n", encoding="utf-8")
    (package / "train.py").write_text(
        "import sys\nfrom .maths import twice as t\nprint(t(4), *sys.argv[1:])\n", encoding="utf-8"
    )
    subprocess.run([sys.executable, "-m", "pkg.train"], timeout=60, capture_output=True)  # so that there is a cache
    done, calls, _ = run("-m", "pkg.train", "x", file="pkg/maths.py", name="twice")
    assert done.stdout == "8 x\n", done.stderr
    assert calls == "."


def test_one_that_calls_itself_is_counted_once(run):
    Path("fact.py").write_text(
        "def fact(n):\n    return 1 if n < 2 else n * fact(n - 1)\n\n\nprint(fact(5))\n", encoding="utf-8"
    )
    done, calls, _ = run("fact.py", file="fact.py", name="fact")
    assert done.stdout == "120\n"
    assert calls == "....."  # as it is: every call is one


def test_episodes_are_seen_and_nothing_else_is(run):
    Path("play.py").write_text(
        """
import gymnasium as gym
import numpy as np

class Mine(gym.Env):
    observation_space, action_space = gym.spaces.Discrete(1), gym.spaces.Discrete(2)
    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.left = 3
        return 0, {}
    def step(self, action):
        self.left -= 1
        return 0, 2.0, self.left == 0, False, {}

class More(Mine):
    def step(self, action):
        obs, reward, *rest = super().step(action)
        return obs, reward + 1.0, *rest

def nothing():
    pass

for env in (Mine(), gym.wrappers.TimeLimit(More(), 2)):
    env.reset(seed=1)
    for _ in range(7):
        _, _, terminated, truncated, _ = env.step(0)
        if terminated or truncated:
            env.reset()
""",
        encoding="utf-8",
    )
    done, calls, notes = run("play.py", file="play.py", name="nothing")
    assert done.returncode == 0, done.stderr
    assert calls == ""
    worth = [float(line) for line in (notes / "returns").read_text(encoding="utf-8").splitlines()]
    assert worth == [6.0, 6.0, 6.0, 6.0, 6.0]


def test_the_definition_is_found_by_its_line():
    import ast

    tree = ast.parse("if 1:\n    def f(): return 1\nelse:\n    @x\n    def f(): return 2\n")
    assert definition(tree, "f", 2).lineno == 2
    assert definition(tree, "f", 4).lineno == 5
    assert definition(tree, "f", 3) is None
