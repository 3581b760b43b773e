import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from rldebug.dashboard import serve as serving
from rldebug.dashboard.serve import DashboardError, can_show, place

from .conftest import write_run


def test_a_folder_of_runs_or_one_of_them(root):
    write_run(root / "a")
    with place(root, 0).socket, place(root / "a", 0).socket:
        pass
    made = place(root / "a", 0)
    with made.socket:
        assert (made.root, made.only) == (root.absolute(), "a")
        assert made.url.endswith("&run=a")
        assert made.socket.getsockname()[0] == "127.0.0.1"


def test_every_start_has_its_own_token(root):
    with (one := place(root, 0)).socket, (two := place(root, 0)).socket:
        assert one.token != two.token
        assert len(one.token) >= 32


def test_a_port_that_is_taken(root, monkeypatch):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(DashboardError, match="is taken"):
            place(root, port)
        monkeypatch.setattr(serving, "PORT", port)
        with (made := place(root)).socket:
            assert made.port != port


def test_a_file_is_no_folder_of_runs(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DashboardError, match="is a file"):
        place(tmp_path / "file", 0)


def test_no_browser_without_a_screen(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert not can_show()


def test_ctrl_c_ends_it_without_a_word():
    words = [sys.executable, "-m", "rldebug", "dashboard", "--no-open", "--port", "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        url = process.stdout.readline().strip()
        with httpx.Client(follow_redirects=True, trust_env=False, timeout=20) as client:
            assert '"runs": []' in client.get(url).text
            process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert (out, err) == ("", "")
    assert not Path(".rldebug").exists()
