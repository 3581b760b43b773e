import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from rldebug.render.json import schema

OWN = """
import torch

def compute_gae(rewards, values, dones, last_value, gamma=0.99, lam=0.95):
    adv, acc, following = torch.zeros_like(rewards), 0.0, last_value
    for t in reversed(range(len(rewards))):
        delta = rewards[t] + gamma * following * (1 - dones[t]) - values[t]
        acc = delta + gamma * lam * (1 - dones[t]) * acc
        adv[t], following = acc, values[t]
    return adv, adv + values

def leaking(rewards, values, dones, last_value, gamma=0.99, lam=0.95):
    adv, acc, following = torch.zeros_like(rewards), 0.0, last_value
    for t in reversed(range(len(rewards))):
        delta = rewards[t] + gamma * following * (1 - dones[t]) - values[t]
        acc = delta + gamma * lam * acc
        adv[t], following = acc, values[t]
    return adv

def obscure(p, q, s, u, w, z):
    return compute_gae(p, q, s, u, w, z)
"""


@pytest.fixture
def own(monkeypatch):
    monkeypatch.setattr(sys, "path", sys.path[:])
    file = Path("rldebug_own_gae.py")
    file.write_text(OWN, encoding="utf-8")
    yield str(file)
    sys.modules.pop("rldebug_own_gae", None)


def test_a_sound_function_exits_0_and_shows_how_it_was_called(rldebug, own):
    said = rldebug("verify", "gae", f"{own}:compute_gae")
    assert said.status == 0, said.err
    words = " ".join(said.out.split())
    assert "rewards reward of the step" in words
    assert "layout (T, B) · torch tensors" in words
    assert "✓ the same as the reference on" in words
    assert "nothing wrong found" in words


def test_a_module_is_found_from_here(rldebug, own):
    assert rldebug("verify", "gae", "rldebug_own_gae:compute_gae").status == 0


def test_a_mistake_exits_1_with_its_name_and_a_table(rldebug, own):
    said = rldebug("verify", "gae", f"{own}:leaking", "--json", "report.json")
    assert said.status == 1, said.err
    assert "error[ADV103]" in said.out
    assert "gae-runs-over-reset" in said.out
    assert "◀ the first that differs" in said.out
    report = json.loads(Path("report.json").read_text(encoding="utf-8"))
    jsonschema.validate(report, schema())
    assert report["command"] == "verify"
    assert report["exit"] == 1
    assert report["findings"][0]["where"]["line"] == 12
    assert report["program"]["smallest"]["rows"]


def test_json_on_stdout_is_nothing_but_json(rldebug, own):
    said = rldebug("verify", "gae", f"{own}:leaking", "--json", "-")
    assert json.loads(said.out)["findings"][0]["name"] == "gae-runs-over-reset"


def test_arguments_can_be_said(rldebug, own):
    said = rldebug("verify", "gae", f"{own}:obscure")
    assert said.status == 2
    assert "--map reward=p" in said.err
    pairs = ("reward=p", "value=q", "done=s", "last_value=u", "gamma=w", "lam=z")
    assert rldebug("verify", "gae", f"{own}:obscure", "--map", *pairs).status == 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "what is to be verified"),
        (("gae",), "what is to be verified"),
        (("gea", "x.py:f"), "no component called 'gea', did you mean gae?"),
        (("gae", "nowhere.py:f"), "nowhere.py: no such file"),
        (("gae", "rldebug_own_gae.py:compute_gea"), "did you mean compute_gae?"),
    ],
)
def test_what_cannot_run_exits_2_and_says_why(rldebug, own, arguments, told):
    said = rldebug("verify", *arguments)
    assert said.status == 2
    assert told in said.err


def test_components_are_listed(rldebug):
    said = rldebug("verify", "--list")
    assert said.status == 0
    assert "gae " in said.out
    one = rldebug("verify", "gae", "--list")
    assert "ADV103 gae-runs-over-reset" in one.out
    assert "A_t = δ_t" in one.out


def test_a_test_file_is_written(rldebug, own):
    said = rldebug("verify", "gae", f"{own}:compute_gae", "--write-test", "tests/test_parts.py")
    assert said.status == 0, said.err
    assert "def test_gae_compute_gae():" in Path("tests/test_parts.py").read_text(encoding="utf-8")


def test_nothing_is_left_where_it_is_called(tmp_path):
    """In a process of its own: within pytest, Hypothesis has its folder already."""
    (tmp_path / "mine.py").write_text(OWN, encoding="utf-8")
    command = [sys.executable, "-B", "-m", "rldebug", "verify", "gae", "mine.py:compute_gae"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert [each.name for each in tmp_path.iterdir()] == ["mine.py"]
