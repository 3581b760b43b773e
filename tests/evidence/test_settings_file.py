from __future__ import annotations

import sys
from pathlib import Path

import pytest

from rldebug.evidence.given import HyperparametersError
from rldebug.evidence.settings_file import read_settings
from tests.evidence.beside import compared, values, verdict

TOML = """
title = "gamma = 0.1"
[train]
gamma = 0.9           # line 4
"learning-rate" = 1e-3
optimizer = { name = "adam", eps = 1e-8 }
[env]
id = "CartPole-v1"
n_envs = 8
[train.ppo]
clip_range = 0.2      # line 11
net_arch = [64, 64]
[train.sac]
tau = 0.005
batch_size = 17
"""


def test_toml():
    found = compared("ppo", TOML, "my.toml")
    assert values(found) == {"gamma": [0.9], "lr": [0.001], "envs": [8], "clip": [0.2], "hidden": [[64, 64]]}
    assert {row.given_as: row.line for row in found.rows} == {
        "train.gamma": 4,
        "train.learning-rate": 5,
        "env.n_envs": 9,
        "train.ppo.clip_range": 11,
        "train.ppo.net_arch": 12,
    }


def test_json_lines_are_right():
    text = """{
  "env": "CartPole-v1",
  "a": {"gamma": 0.9,
        "b": [{"learningRate": 0.001}]},
  "clip_range": 0.3,
  "gamma": 0.95
}"""
    found = compared("ppo", text, "my.json")
    assert [(row.given_as, row.yours, row.line) for row in found.rows] == [
        ("a.b.learningRate", 0.001, 4),
        ("a.gamma", 0.9, 3),
        ("gamma", 0.95, 6),
        ("clip_range", 0.3, 5),
    ]


def test_yaml():
    text = """
CartPole-v1:
  n_envs: 8
  normalize: true
  learning_rate: lin_2.5e-4
  gamma: !!float 9e-1
  clip_range: 1e-1   # a word, for YAML
  norm_adv: no
  net_arch: {pi: [64, 64], vf: [32, 32]}
"""
    found = compared("ppo", text, "my.yaml")
    assert values(found) == {
        "envs": [8],
        "lr": [2.5e-4],
        "gamma": [0.9],
        "clip": [0.1],
        "normalise_advantage": [False],
        "hidden": [[64, 64], [32, 32]],
    }
    assert verdict(found, "normalise_advantage").startswith("off here: ")
    assert {row.name: row.line for row in found.rows}["gamma"] == 6


def test_yaml_without_its_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(HyperparametersError, match="pip install pyyaml"):
        compared("ppo", "gamma: 0.9", "my.yml")


def test_words_that_are_numbers():
    Path("my.json").write_text('{"lr": "lin_1e-3", "gamma": "nan", "clip": "inf", "name": "x", "sizes": ["64"]}')
    assert [(each.name, each.value) for each in read_settings(Path("my.json"))] == [
        ("lr", 0.001),
        ("name", "x"),
        ("sizes", ["64"]),
    ]


# ── files that cannot be read ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("train.py", b"\x7fELF\x00\x01", "train.py is not a text file"),
        ("my.toml", b"a = 1\nb == 2\n", "line 2"),
        ("my.toml", b"\xff\xfe", "my.toml is not a text file: byte 0 is not UTF-8"),
        ("my.json", b'{\n "a": 1,\n}', "my.json:3 is not JSON"),
        ("my.yaml", b"a: 1\nb: [1\n", "my.yaml:3 is not YAML"),
        ("train.sh", b"python train.py --lr 1", "expected a .py, .toml, .json or .yaml file"),
        ("my.json", b"[" * 100_000, "nested too deeply"),
    ],
    ids=["binary", "toml", "not utf-8", "json", "yaml", "suffix", "deep"],
)
def test_the_reason_is_said(name, content, said):
    Path(name).write_bytes(content)
    with pytest.raises(HyperparametersError) as error:
        read_settings(Path(name))
    assert said in str(error.value)


def test_a_missing_file_is_an_error_of_the_system():
    with pytest.raises(FileNotFoundError):
        read_settings(Path("nowhere.py"))


@pytest.mark.parametrize("name", ["empty.py", "empty.toml", "empty.yaml"])
def test_an_empty_file_holds_nothing(name):
    Path(name).touch()
    assert read_settings(Path(name)) == ()
    Path("null.json").write_text("null")
    assert read_settings(Path("null.json")) == ()
