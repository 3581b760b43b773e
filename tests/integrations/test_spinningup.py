"""Programs in the way of Spinning Up: the old gym, a buffer with finish_path, two optimizers."""

import importlib.util

import pytest
import torch

import rldebug
from tests.integrations import pages
from tests.integrations.written_out import PROGRAMS, judged, written
from tests.integrations.written_out import rldebug as command

pytestmark = pytest.mark.integration


def program():
    spec = importlib.util.spec_from_file_location("buffered_vpg", PROGRAMS / "buffered_vpg.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_example_of_the_page_runs_and_is_quiet(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written("buffered_vpg", tmp_path / "my_vpg.py")
    monkeypatch.syspath_prepend(tmp_path)
    report = pages.run("spinningup")["dbg"].close()
    assert report.clean, report.findings
    assert {each["of"] for each in report.program["targets"]} == {"value", "weight of log-probs"}


def test_unmodified_and_quiet(tmp_path):
    script = written("buffered_vpg", tmp_path / "vpg.py")
    status, said = command(tmp_path, "run", script.name)
    assert status == 0, said
    assert "nothing wrong found" in said
    assert "discounted returns, γ 0.99" in said
    assert "GAE, γ 0.99, λ 0.95" in said


@pytest.mark.parametrize(
    ("change", "component"),
    [
        (("v = 0.0 if d else ac.step", "v = ac.step"), "discounting"),
        (
            ("                buf.finish_path(v)\n", "                epoch_ended and buf.finish_path(v)\n"),
            "discounting",
        ),
    ],
    ids=["last_val where the pole fell", "paths finished at the end of an epoch only"],
)
def test_a_line_that_a_user_broke_is_named(change, component, tmp_path):
    report = judged("buffered_vpg", tmp_path, change)
    assert report.suspects[0].component == component, report.findings


def test_watching_changes_nothing(tmp_path, monkeypatch):
    kept = []
    learned = program()
    made = learned.MLPActorCritic
    monkeypatch.setattr(learned, "MLPActorCritic", lambda *sizes: kept.append(made(*sizes)) or kept[-1])
    learned.vpg(learned.Env("CartPole-v1"), epochs=3)
    with rldebug.attach(run="vpg", folder=tmp_path, quiet=True):
        learned.vpg(learned.Env("CartPole-v1"), epochs=3)
    plain, seen = (each.state_dict() for each in kept)
    assert all(torch.equal(plain[name], seen[name]) for name in plain)
