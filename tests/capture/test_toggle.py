"""Asking by a key or a file; and the terminal is as it was, whatever happens."""

from __future__ import annotations

import builtins
import os
import pty
import signal
import sys
import termios
import threading

import pytest

from rldebug.capture.toggle import Keys, Toggle, keys_of


def touch(file, at):
    file.touch()
    os.utime(file, (at, at))


def test_each_touch_is_noticed_once(tmp_path):
    file = tmp_path / "toggle-render"
    toggle = Toggle(file, None)
    assert not toggle.asked(0.0)
    touch(file, 1000)
    assert not toggle.asked(0.5), "it is looked at once a second"
    assert toggle.asked(1.5)
    assert not toggle.asked(3.0)
    touch(file, 2000)
    assert toggle.asked(5.0)
    file.unlink()
    assert not toggle.asked(7.0)
    toggle.close()


def test_a_file_that_was_there_before_means_nothing(tmp_path):
    file = tmp_path / "toggle-render"
    touch(file, 1000)
    toggle = Toggle(file, None)
    assert not toggle.asked(0.0)
    assert toggle.due > 0.0


@pytest.fixture
def terminal(monkeypatch):
    """Its two ends; what is typed comes in at the first, and is read at the second."""
    typed, read = pty.openpty()
    monkeypatch.setattr(os, "tcgetpgrp", lambda fd: os.getpgrp())
    yield typed, read
    os.close(typed)
    os.close(read)


def modes(terminal):
    return termios.tcgetattr(terminal)[3] & (termios.ICANON | termios.ECHO)


def test_the_key_and_the_terminal_as_it_was(terminal):
    typed, read = terminal
    before, plain, stop = termios.tcgetattr(read), builtins.input, signal.getsignal(signal.SIGTSTP)
    keys = Keys(read)
    assert termios.tcgetattr(read) == before, "nothing is changed before the first look"
    assert not keys.pressed()
    assert not modes(read)
    assert termios.tcgetattr(read)[3] & termios.ISIG, "Ctrl-C stays what it is"
    for text, asked in ((b"r", True), (b"", False), (b"rr", False), (b"xyz", False), (b"R", True)):
        os.write(typed, text)
        assert keys.pressed() is asked
    keys.close()
    assert termios.tcgetattr(read) == before
    assert builtins.input is plain
    assert signal.getsignal(signal.SIGTSTP) is stop
    os.write(typed, b"r\n")
    assert not keys.pressed()


def test_a_program_that_asks_its_user_gets_the_terminal_back_for_good(terminal, monkeypatch):
    typed, read = terminal
    before, seen = termios.tcgetattr(read), []
    monkeypatch.setattr(builtins, "input", lambda *args: seen.append(termios.tcgetattr(read)) or "yes")
    keys = Keys(read)
    keys.pressed()
    assert builtins.input("go on? ") == "yes"
    assert seen == [before]
    os.write(typed, b"r")
    assert not keys.pressed()
    assert modes(read)


def test_in_the_background_the_terminal_is_left_alone(terminal, monkeypatch):
    typed, read = terminal
    before = termios.tcgetattr(read)
    monkeypatch.setattr(os, "tcgetpgrp", lambda fd: os.getpgrp() + 1)
    os.write(typed, b"r")
    keys = Keys(read)
    assert not keys.pressed()
    assert termios.tcgetattr(read) == before
    keys.close()


def test_only_the_main_thread_reads(terminal):
    typed, read = terminal
    keys, found = Keys(read), []
    os.write(typed, b"r\n")
    thread = threading.Thread(target=lambda: found.append(keys.pressed()))
    thread.start()
    thread.join()
    assert found == [False]
    assert keys.pressed()
    keys.close()


def test_a_terminal_that_is_gone_does_no_harm():
    typed, read = pty.openpty()
    keys = Keys(read)
    os.close(typed)
    os.close(read)
    assert not keys.pressed()
    keys.close()


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("name = input('who? ')", True),
        ("for line in sys.stdin:", True),
        ("breakpoint()", True),
        ("import pdb; pdb.set_trace()", True),
        ("net = Net(input_size=4); model(inputs)", False),
        ("x = conv_input(3); self.input = 3", False),
    ],
)
def test_a_program_that_reads_the_keyboard_keeps_it(text, read, terminal, tmp_path, monkeypatch):
    script = tmp_path / "train.py"
    script.write_text(text)
    with os.fdopen(os.dup(terminal[1])) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        assert (keys_of(str(script)) is None) == read


def test_without_a_terminal_there_are_no_keys(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    assert keys_of(None) is None
    with open(os.devnull) as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        assert keys_of(None) is None
