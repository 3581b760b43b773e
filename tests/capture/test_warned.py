"""Warnings are seen once each, and what the program makes of them stays its own."""

from __future__ import annotations

import json
import warnings

import gymnasium as gym
import pytest
import torch

from rldebug.capture.session import Options, Session
from rldebug.diagnose import diagnose
from rldebug.evidence.crash import Crash, read_warnings
from rldebug.recorded import recorded
from tests.watched import watched

SOFTMAX = "Implicit dimension choice for softmax"


def soften(logits):
    return torch.nn.functional.softmax(logits)


def warns(text, times=1, category=UserWarning):
    for _ in range(times):
        warnings.warn(text, category, stacklevel=2)


@pytest.fixture
def shown(monkeypatch):
    """What the program would see, as Python shows it by itself; pytest makes errors of them."""
    seen = []
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        monkeypatch.setattr(warnings, "showwarning", lambda *given, **more: seen.append(given[:4]))
        yield seen


def told(program, folder, **options):
    watched(program, folder, **options)
    return read_warnings(folder)


def test_each_is_kept_once_with_its_place_and_what_lay_there(shown, tmp_path):
    def program():
        for _ in range(3):
            logits = torch.zeros(2, 3)
            soften(logits)

    (crash,) = told(program, tmp_path / "run")
    assert crash.warning
    assert (crash.type, crash.at.function) == ("UserWarning", "soften")
    assert crash.message.startswith(SOFTMAX)
    assert crash.operands()["logits"]["shape"] == [2, 3]
    assert len(shown) == 3


def test_what_may_be_meant_is_a_note(shown, tmp_path):
    watched(lambda: soften(torch.zeros(2, 3)), tmp_path / "run")
    seen = recorded(tmp_path / "run")
    assert seen.crash is None
    report = diagnose(seen.evidences)
    (finding,) = [each for each in report.findings if each.where.file == __file__]
    assert finding.severity == "note"
    assert finding.seen.endswith("the program went on")
    assert not report.roots or report.roots[0].severity == "note"


def test_what_loses_a_gradient_or_is_out_of_order_stays_a_warning(shown, tmp_path):
    def program():
        weight = torch.nn.Parameter(torch.ones(2))
        total = weight.sum()
        torch.tensor(total)
        pace = torch.optim.lr_scheduler.ExponentialLR(torch.optim.SGD([weight], lr=0.1), 0.9)
        pace.step()

    crashes = told(program, tmp_path / "run")
    assert {each.code: each.severity for each in diagnose(crashes).findings} == {
        "GRA430": "warning",
        "OPT421": "warning",
    }


def test_what_would_be_an_error_is_a_warning(shown, tmp_path):
    crashes = told(lambda: torch.ones(1).std(), tmp_path / "run")
    assert [(each.code, each.severity) for each in diagnose(crashes).findings] == [("ADV401", "warning")]


def test_what_nobody_knows_is_no_finding(shown, tmp_path):
    (crash,) = told(lambda: warns("mind the gap"), tmp_path / "run")
    assert not diagnose([crash]).findings
    assert diagnose([Crash(type="UserWarning", message="mind the gap")]).findings  # raised, it would be an end


def test_what_is_not_installed_is_not_needed_by_a_program_that_goes_on():
    text = "pygame is not installed, run `pip install pygame`"
    assert diagnose([Crash(type="UserWarning", message=text)]).findings
    assert not diagnose([Crash(type="UserWarning", message=text, warning=True)]).findings


def test_one_of_many_is_told():
    crash = Crash(type="UserWarning", message=f"{SOFTMAX} has been deprecated.", warning=True)
    assert len(diagnose([crash, crash, crash]).findings) == 1


def test_filters_recording_and_the_programs_own_showing_act_as_before(shown, tmp_path):
    def program():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warns("unwanted")
        with warnings.catch_warnings(record=True) as kept:
            warnings.simplefilter("always")
            warns("recorded")
        assert [str(each.message) for each in kept] == ["recorded"]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(UserWarning, match="raised"):
                warns("raised")
        warns("shown", times=2)

    messages = [each.message for each in told(program, tmp_path / "run")]
    assert "unwanted" not in messages
    assert "raised" not in messages
    assert messages.count("shown") == 1
    assert [str(given[0]) for given in shown] == ["shown", "shown"]
    assert shown[0][2] == __file__


def test_a_showing_that_raises_raises(shown, tmp_path, monkeypatch):
    def stop(*given, **more):
        raise KeyError("stop")

    monkeypatch.setattr(warnings, "showwarning", stop)

    def program():
        with pytest.raises(KeyError):
            warns("x")

    assert [each.message for each in told(program, tmp_path / "run")] == ["x"]


def test_there_is_an_end_to_it(shown, tmp_path):
    def program():
        for place in range(100):
            warns(f"warning {chr(97 + place % 26)}{chr(97 + place // 26)}")

    kept = told(program, tmp_path / "run")
    assert len(kept) == 32
    assert len(shown) == 100
    assert len(json.dumps([each.to_dict() for each in kept])) < 1_000_000


def test_the_hook_is_taken_away_and_can_be_left_out(tmp_path):
    before = warnings._showwarnmsg
    session = Session(tmp_path / "one", Options(without=("arguments",)))
    session.install()
    assert warnings._showwarnmsg is not before
    assert warnings._showwarnmsg.__name__ == before.__name__
    session.finish()
    assert warnings._showwarnmsg is before
    session = Session(tmp_path / "two", Options(without=("arguments", "warnings")))
    session.install()
    assert warnings._showwarnmsg is before
    session.finish()


def test_what_python_shows_once_is_shown_once(shown, tmp_path):
    """To add a filter makes Python forget what it has shown."""
    net = torch.nn.Linear(2, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    env = gym.make("CartPole-v1")

    def program():
        warnings.simplefilter("default")
        env.reset(seed=0)
        for _ in range(30):
            env.step(0)
            warnings.warn("of its own", UserWarning, stacklevel=1)
            opt.zero_grad()
            net(torch.ones(3, 2)).sum().backward()
            opt.step()
            env.reset()

    watched(program, tmp_path / "run")
    assert [str(each[0]) for each in shown] == ["of its own"]
