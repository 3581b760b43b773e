import json
import sys
from pathlib import Path

import pytest

import rldebug.algos
import rldebug.train

PPO = '''
from dataclasses import dataclass

@dataclass(frozen=True)
class Settings:
    steps: int = 128  # in each environment
    lr: float = 2.5e-4  # Adam's step size
    gamma: float = 0.99  # how much a reward one step later counts
    lam: float = 0.95
    """GAE's λ"""
    clip: float = 0.2  # how far the ratio may move
'''


@pytest.fixture(autouse=True)
def algorithms(tmp_path, monkeypatch):
    """A shelf with one algorithm on it, and one environment on which it is known to work."""
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    (shelf / "ppo.py").write_text(PPO, encoding="utf-8")
    monkeypatch.setattr(rldebug.algos, "__path__", [str(shelf)])
    monkeypatch.delitem(sys.modules, "rldebug.algos.ppo", raising=False)
    monkeypatch.delattr(rldebug.algos, "ppo", raising=False)
    known = {"CartPole-v1": {"steps": 64, "lr": 1e-3}}
    module = sys.modules["rldebug.train"]  # the name rldebug.train is the function
    monkeypatch.setattr(module, "presets", {"ppo": known}.__getitem__)
    yield
    sys.modules.pop("rldebug.algos.ppo", None)
    vars(rldebug.algos).pop("ppo", None)


def write(text, name="train.py"):
    Path(name).write_text(text, encoding="utf-8")
    return name


def test_the_reference_is_printed_with_its_reasons(rldebug):
    said = rldebug("hyperparameters", "PPO")
    assert said.status == 0, said.err
    lines = [" ".join(line.split()) for line in said.out.splitlines()]
    assert "gamma 0.99 how much a reward one step later counts" in lines
    assert "lam 0.95 GAE's λ" in lines
    assert "lr 0.00025 Adam's step size" in lines


def test_without_an_environment_there_is_no_column_of_defaults(rldebug):
    assert "default" not in rldebug("hyperparameters", "ppo").out


def test_the_settings_for_an_environment_beside_the_defaults(rldebug):
    said = rldebug("hyperparameters", "ppo", "--env", "CartPole-v1")
    assert said.status == 0, said.err
    lines = [" ".join(line.split()) for line in said.out.splitlines()]
    assert lines[0] == "ppo on CartPole-v1: the reference's settings"
    assert "setting value default" in lines
    assert "steps 64 128 in each environment" in lines
    assert "lr 0.001 0.00025 Adam's step size" in lines
    assert "gamma 0.99 how much a reward one step later counts" in lines


def test_compared_with_the_settings_for_an_environment(rldebug):
    write("learning_rate = 1e-3\ngamma = 0.9\nclip_range = 0.2\n", "a.toml")
    said = rldebug("hyperparameters", "ppo", "--env", "CartPole-v1", "--compare", "a.toml")
    assert said.status == 0, said.err
    words = " ".join(said.out.split())
    assert "ppo on CartPole-v1: 1 setting differs, 2 the same" in words
    assert "lr 0.001 0.001 * same" in words
    assert "clip 0.2 0.2 same" in words
    assert "steps 64 * in each environment" in words  # not found
    assert words.endswith("* for CartPole-v1; by default steps 128, lr 0.00025")


def test_an_environment_of_which_nothing_is_known(rldebug):
    said = rldebug("hyperparameters", "ppo", "--env", "CartPole")
    assert said.status == 2
    assert "no settings of ppo are known for CartPole: known are CartPole-v1" in said.err


def test_differences_are_no_finding(rldebug):
    said = rldebug("hyperparameters", "ppo", "--compare", write("GAMMA = 0.9\nCLIP_COEF = 0.2\nalpha = 0.1\n"))
    assert said.status == 0, said.err
    words = " ".join(said.out.split())
    assert "ppo: 1 setting differs, 1 the same · train.py beside the reference" in words
    assert "gamma 0.9 0.99 horizon 10 steps, not 100" in words
    assert "train.py:1" in words
    assert "clip 0.2 0.2 same train.py:2 CLIP_COEF" in words
    assert "lr 0.00025 Adam's step size" in words  # not found
    assert "alpha 0.1 line 3 a step size, an entropy temperature or a priority exponent" in words


def test_equal_settings(rldebug):
    said = rldebug("hyperparameters", "ppo", "--compare", write("gamma = 0.99\nclip_range = 0.2\n", "a.toml"))
    assert said.status == 0
    assert "all 2 settings found are the same" in said.out
    assert "differ" not in said.out


def test_nothing_recognised(rldebug):
    said = rldebug("hyperparameters", "ppo", "--compare", write("x = 1"))
    assert said.status == 0
    assert "no setting of the reference recognised" in said.out


def test_no_line_is_wider_than_asked(rldebug, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    name = "a_rather_long_name_of_a_script_for_training.py"
    write("def f(steps_per_epoch=4000, learning_rate=1.0, gamma=0.5, lambda_gae=1.0, clipping_epsilon=3.0): ...", name)
    said = rldebug("hyperparameters", "ppo", "--compare", name)
    assert said.status == 0
    assert max(map(len, said.out.splitlines())) <= 100
    assert ":1 clipping_epsilon" in said.out


def test_many_values_are_counted(rldebug):
    script = "\n".join(f"f(gamma={i / 10})" for i in range(1, 10))
    assert "and 5 other values" in rldebug("hyperparameters", "ppo", "--compare", write(script)).out


def test_json(rldebug):
    rldebug("hyperparameters", "ppo", "--json", "out.json")
    written = json.loads(Path("out.json").read_text(encoding="utf-8"))
    assert written["command"] == "hyperparameters"
    assert written["env"] is None
    assert {"name": "lam", "value": 0.95, "default": 0.95, "reason": "GAE's λ"} in written["settings"]
    said = rldebug("hyperparameters", "ppo", "--compare", write("discount = 0.9\nfoo = 3"), "--json", "-")
    compared = json.loads(said.out)
    assert compared["rows"] == [
        {
            "name": "gamma",
            "given_as": "discount",
            "yours": 0.9,
            "line": 1,
            "reference": 0.99,
            "same": False,
            "verdict": "horizon 10 steps, not 100: rewards further off hardly count",
        }
    ]
    assert [each["name"] for each in compared["missing"]] == ["steps", "lr", "lam", "clip"]
    assert [each["name"] for each in compared["unmatched"]] == ["foo"]
    assert compared["changed"] == []


def test_json_for_an_environment(rldebug):
    said = rldebug("hyperparameters", "ppo", "--env", "CartPole-v1", "--json", "-")
    written = json.loads(said.out)
    assert written["env"] == "CartPole-v1"
    assert {"name": "steps", "value": 64, "default": 128, "reason": "in each environment"} in written["settings"]
    said = rldebug("hyperparameters", "ppo", "--env", "CartPole-v1", "--compare", write("steps = 1"), "--json", "-")
    compared = json.loads(said.out)
    assert compared["env"] == "CartPole-v1"
    assert [each["name"] for each in compared["changed"]] == ["steps", "lr"]


@pytest.mark.parametrize("name", ["pppo", "__init__", "../ppo", ""])
def test_an_unknown_algorithm(rldebug, name):
    said = rldebug("hyperparameters", name)
    assert said.status == 2
    assert "expected one of ppo" in said.err


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("gone.py", None, "gone.py: No such file or directory"),
        ("train.py", b"a = 1\nb = (\n", "train.py:2: '(' was never closed"),
        ("train.py", b"\x00\x01", "not a text file"),
        ("train.txt", b"gamma = 0.9", "expected a .py, .toml, .json or .yaml file"),
    ],
    ids=["missing", "syntax", "binary", "suffix"],
)
def test_it_could_not_run(rldebug, name, content, said):
    if content is not None:
        Path(name).write_bytes(content)
    heard = rldebug("hyperparameters", "ppo", "--compare", name)
    assert heard.status == 2
    assert said in heard.err
    assert "bug in rldebug" not in heard.err
