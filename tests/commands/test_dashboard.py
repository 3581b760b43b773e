from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def without_the_extra(monkeypatch):
    monkeypatch.setattr("rldebug.dashboard.serve.find_spec", lambda name: None)


def test_the_extra_is_missing(rldebug, without_the_extra):
    said = rldebug("dashboard")
    assert said.status == 2
    assert "pip install 'rldebug[dashboard]'" in said.err
    assert not said.out


def test_it_prints_one_line_and_serves(rldebug, monkeypatch):
    served = []
    monkeypatch.setattr("rldebug.dashboard.serve.serve", lambda place, browser: served.append((place, browser)))
    Path("runs").mkdir()
    said = rldebug("dashboard", "runs", "--port", "0", "--no-open")
    ((place, browser),) = served
    place.socket.close()
    assert (said.status, browser, str(place.root)) == (0, False, "runs")
    assert said.out.splitlines()[0].startswith("http://127.0.0.1:")
    assert place.token in said.out
    assert len(said.out.splitlines()) == 1


def test_a_file_is_no_folder(rldebug, tmp_path):
    (tmp_path / "file").write_text("")
    said = rldebug("dashboard", tmp_path / "file", "--no-open")
    assert said.status == 2
    assert "is a file" in said.err


def test_a_folder_that_is_not_there_is_said(rldebug):
    said = rldebug("dashboard", "nosuch", "--no-open")
    assert said.status == 2
    assert "there is no folder nosuch" in said.err
