"""Frames for the window: it is never waited for, and nothing that becomes of it does harm."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import pytest

from rldebug.capture.viewer import Viewer, can_show

FRAME = np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3)


@pytest.fixture
def shown(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    viewer = Viewer("test")
    yield viewer
    viewer.close()
    assert viewer._process is None


def until(condition):
    deadline = time.monotonic() + 20
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return condition()


def test_frames_are_taken_and_it_ends_with_the_pipe(shown):
    def sent():
        shown.show(FRAME)
        return not shown._left

    for _ in range(5):
        assert until(sent)
    process = shown._process
    assert process.poll() is None
    shown.close()
    assert process.returncode == 0


def test_one_that_does_not_take_them_is_not_waited_for(shown):
    large = np.zeros((300, 400, 3), dtype=np.uint8)
    for _ in range(50):  # before it has begun to read
        shown.show(large)
    assert shown._left
    assert not shown.closed


@pytest.mark.parametrize(("code", "closed"), [("", True), ("1 / 0", False)], ids=["closed", "failed"])
def test_one_that_is_gone_is_noticed(code, closed, monkeypatch):
    """Its user has closed it: they have seen enough. One that could not be opened says nothing about that."""
    plain = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda command, **more: plain([sys.executable, "-c", code], **more))
    viewer = Viewer("test")

    def noticed():
        viewer.show(FRAME)
        return viewer._gone

    assert until(noticed)
    assert viewer.closed == closed
    viewer.show(FRAME)
    viewer.close()


@pytest.mark.skipif(sys.platform in ("darwin", "win32"), reason="there is always one")
def test_without_a_display_there_is_none(monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert not can_show()
