"""The progress line on a terminal: seen, out of the way of all that the program prints, and gone in the end."""

from __future__ import annotations

import fcntl
import io
import logging
import os
import pty
import random
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import textwrap
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from rldebug.render import progress_line
from rldebug.render.progress_line import ProgressLine

COLUMNS = 100


def screen(data: bytes) -> list[str]:
    """What a terminal shows that was sent these bytes: it knows \\r, \\n, ESC[2K, ESC[J, ESC[A, ESC[C and colours."""
    lines, row, column = [""], 0, 0
    for piece in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|[\s\S]", data.decode()):
        if piece == "\r":
            column = 0
        elif piece == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif piece == "\x1b[2K":
            lines[row] = ""
        elif piece == "\x1b[C":
            column += 1
        elif piece == "\x1b[J":
            lines[row:] = [lines[row][:column]]
        elif piece[0] == "\x1b" and piece[-1] == "A":
            row = max(row - int(piece[2:-1] or 1), 0)
        elif piece[0] != "\x1b":
            lines[row] = lines[row][:column].ljust(column) + piece + lines[row][column + 1 :]
            column += 1
    return [each.rstrip() for each in lines]


class Terminal:
    """A pseudo-terminal, with a stdout and a stderr that lead to it."""

    def __init__(self) -> None:
        self.far, self.near = pty.openpty()
        self.resize(COLUMNS)
        self.files: list[Any] = []
        self.stdout: Any = self.open()
        self.stderr: Any = self.open()
        self.said = b""

    def open(self, buffering: int = -1) -> Any:
        file = os.fdopen(os.dup(self.near), "wb", buffering)
        self.files.append(io.TextIOWrapper(file, encoding="utf-8", line_buffering=True, write_through=buffering == 0))
        return self.files[-1]

    def resize(self, columns: int, rows: int = 24) -> None:
        fcntl.ioctl(self.near, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self) -> bytes:
        while select.select([self.far], [], [], 0)[0]:
            self.said += os.read(self.far, 65536)
        return self.said

    def screen(self) -> list[str]:
        return screen(self.read())

    def close(self) -> None:
        for each in (*self.files, self.stdout):
            each.close()
        for each in (self.far, self.near):
            os.close(each)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    for each in ("CI", "WORLD_SIZE"):
        monkeypatch.delenv(each, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    made = Terminal()
    monkeypatch.setattr(progress_line, "sys", made)  # pytest has its own in the place of the real ones
    yield made
    made.close()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(progress_line, "_now", made)
    return made


@pytest.fixture
def line(terminal: Terminal, clock: Clock) -> Iterator[ProgressLine]:
    """One that was shown already, a second after the first step."""
    made = ProgressLine(terminal.stderr)
    made.begin()
    made.tick(1, 0)
    clock.now += 1
    made.tick(1205, 20)
    assert terminal.screen() == ["rldebug  0:01 · 1 205 env steps (1 204/s) · 20 updates (20.0/s)"]
    yield made
    made.end()


def shown(terminal: Terminal) -> bool:
    return terminal.screen()[-1].startswith("rldebug ")


# ── the line ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_it_says_how_far_and_how_fast_the_program_is(line: ProgressLine, terminal: Terminal, clock: Clock) -> None:
    clock.now += 82
    line.tick(45_312, 704, 187.34)
    assert terminal.screen() == ["rldebug  1:23 · 45 312 env steps (545.9/s) · 704 updates (8.5/s) · return 187.3"]
    for _ in range(20):  # of late only
        clock.now += 1
        line.tick(45_312, 804)
    assert terminal.screen() == ["rldebug  1:43 · 45 312 env steps (0/s) · 804 updates (0/s)"]


def test_it_is_drawn_once_a_second_at_most(line: ProgressLine, terminal: Terminal, clock: Clock) -> None:
    before = terminal.read()
    for step in range(99):
        clock.now += 0.01
        line.tick(1205 + step, 20)
    assert terminal.read() == before
    clock.now += 0.02
    line.tick(1400, 20)
    assert terminal.read() != before
    assert line.due == clock.now + 1


def test_it_is_cut_to_the_width_of_the_terminal(line: ProgressLine, terminal: Terminal, clock: Clock) -> None:
    terminal.resize(20)
    clock.now += 1
    line.tick(2000, 30)
    assert terminal.screen() == ["rldebug  0:02 · 2 0"]


def test_nothing_is_left_of_it(line: ProgressLine, terminal: Terminal, clock: Clock) -> None:
    line.end()
    assert terminal.screen() == [""]
    assert "write" not in {**vars(terminal.stdout.buffer.raw), **vars(terminal.stderr.buffer.raw)}
    assert "flush" not in {**vars(terminal.stdout), **vars(terminal.stderr)}
    clock.now += 10
    line.tick(5000, 100)
    line.end()
    assert terminal.screen() == [""]


def test_a_program_that_is_soon_over_shows_none(terminal: Terminal, clock: Clock) -> None:
    line = ProgressLine(terminal.stderr)
    line.begin()
    clock.now += 60  # of imports
    for _ in range(9):
        clock.now += 0.1
        line.tick(100, 1)
    line.end()
    assert terminal.read() == b""


# ── what the program prints ─────────────────────────────────────────────────────────────────────────────────────────


def test_prints_stand_where_they_would_and_the_line_below_them(
    line: ProgressLine, terminal: Terminal, clock: Clock
) -> None:
    print("episode 1", file=terminal.stdout)
    assert terminal.screen() == ["episode 1", ""]
    print("a warning", file=terminal.stderr)
    assert terminal.screen() == ["episode 1", "a warning", ""]
    clock.now += 1
    line.tick(3000, 40)
    assert terminal.screen()[:2] == ["episode 1", "a warning"]
    assert shown(terminal)
    handler = logging.StreamHandler(terminal.stderr)
    handler.emit(logging.LogRecord("train", logging.INFO, "", 0, "saved", None, None))
    terminal.stdout.buffer.write(b"bytes\n")
    terminal.stdout.flush()
    terminal.stdout.writelines(["two\n", "lines\n"])
    assert terminal.screen() == ["episode 1", "a warning", "saved", "bytes", "two", "lines", ""]


def test_a_line_that_is_not_finished_is_not_broken(line: ProgressLine, terminal: Terminal, clock: Clock) -> None:
    print("training ... ", end="", flush=True, file=terminal.stdout)
    clock.now += 5
    line.tick(3000, 40)
    assert terminal.screen() == ["training ..."]
    print("done", file=terminal.stdout)
    clock.now += 5
    line.tick(4000, 50)
    assert terminal.screen()[0] == "training ... done"
    assert shown(terminal)


def test_a_bar_that_goes_back_to_the_start_of_its_line_is_left_alone(
    line: ProgressLine, terminal: Terminal, clock: Clock
) -> None:
    for percent in (10, 20, 30):
        terminal.stderr.write(f"\r{percent}%|{'#' * (percent // 10):10}|")
        terminal.stderr.flush()
        clock.now += 5
        line.tick(3000 + percent, 40)
        assert terminal.screen() == [f"{percent}%|{'#' * (percent // 10):10}|"]
    terminal.stderr.write("\n")
    clock.now += 5
    line.tick(4000, 40)
    assert shown(terminal)


def test_a_program_that_moves_the_cursor_is_left_alone_for_good(
    line: ProgressLine, terminal: Terminal, clock: Clock
) -> None:
    print("\x1b[31mred\x1b[0m", file=terminal.stdout)
    clock.now += 5
    line.tick(3000, 40)
    assert shown(terminal)
    terminal.stdout.write("\nsecond bar\x1b[A\r\n")
    terminal.stdout.flush()
    print("end", file=terminal.stdout)
    before = terminal.read()
    clock.now += 5
    line.tick(4000, 50)
    assert terminal.read() == before


def test_a_prompt_does_not_stand_behind_it(line: ProgressLine, terminal: Terminal) -> None:
    terminal.stdout.flush()  # as input() does before it writes by ways of its own
    os.write(terminal.near, b"continue? ")
    assert terminal.screen() == ["continue?"]


@pytest.mark.parametrize("seed", range(20))
def test_whatever_is_printed_ends_as_it_would_without_it(terminal: Terminal, clock: Clock, seed: int) -> None:
    chance, plain = random.Random(seed), b""
    words = ["episode\n", "half ", "\r12%|##  |", "\n", "", "\x1b[32mgreen\x1b[0m\n", "two\nlines\n", "\rx\n"]
    line = ProgressLine(terminal.stderr)
    line.begin()
    drawn = 0
    for step in range(80):
        if chance.random() < 0.5:
            clock.now += chance.random()
            line.tick(step, step)
            drawn += shown(terminal)
        else:
            word = chance.choice(words)
            stream = chance.choice([terminal.stdout, terminal.stderr])
            stream.write(word)
            stream.flush()
            plain += word.replace("\n", "\r\n").encode()
            assert terminal.screen() == screen(plain)
    line.end()
    assert terminal.screen() == screen(plain)
    assert drawn


def test_without_a_buffer_and_in_another_stdout(terminal: Terminal, clock: Clock) -> None:
    terminal.stdout = terminal.open(buffering=0)  # python -u
    line = ProgressLine(terminal.stderr)
    line.begin()
    for now in range(2):
        clock.now += 1
        line.tick(now + 1, 0)
    assert shown(terminal)
    print("unbuffered", file=terminal.stdout)
    assert terminal.screen() == ["unbuffered", ""]
    terminal.stdout = terminal.open()
    clock.now += 1
    line.tick(3, 0)
    assert shown(terminal)
    print("another", file=terminal.stdout)
    assert terminal.screen() == ["unbuffered", "another", ""]
    line.end()


def test_threads_that_print_are_not_disturbed(terminal: Terminal, clock: Clock) -> None:
    line, printed = ProgressLine(terminal.stderr), 300
    line.begin()

    def talk(name: str) -> None:
        for i in range(printed):
            terminal.stdout.write(f"{name}{i}\n")

    threads = [threading.Thread(target=talk, args=(name,)) for name in "ab"]
    for each in threads:
        each.start()
    step = 0
    while any(each.is_alive() for each in threads):
        step, clock.now = step + 1, clock.now + 1
        line.tick(step, step)
        terminal.read()  # else it is full at some time
    line.end()
    assert sorted(terminal.screen()) == sorted([f"{name}{i}" for name in "ab" for i in range(printed)] + [""])


def test_a_forked_process_that_prints_takes_it_away_too(line: ProgressLine, terminal: Terminal, clock: Clock) -> None:
    child = os.fork()
    if child == 0:
        line.tick(1, 1)
        terminal.stdout.write("worker\n")
        terminal.stdout.flush()
        os._exit(0)
    os.waitpid(child, 0)
    assert terminal.screen() == ["worker", ""]
    clock.now += 1
    line.tick(3000, 40)
    assert shown(terminal)


# ── what goes wrong ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_errors_of_the_program_are_its_own(line: ProgressLine, terminal: Terminal) -> None:
    with pytest.raises(TypeError, match="must be str"):
        terminal.stdout.write(3)
    terminal.stdout.close()
    with pytest.raises(ValueError, match="closed file"):
        print("too late", file=terminal.stdout)
    print("fine", file=terminal.stderr)
    assert terminal.screen() == ["fine", ""]


def test_a_terminal_that_is_gone_stops_it_and_nothing_else(
    line: ProgressLine, terminal: Terminal, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(data: bytes) -> int:
        raise OSError("the terminal is gone")

    monkeypatch.setattr(line, "_write", refuse)
    clock.now += 1
    line.tick(3000, 40)
    assert line.due == float("inf")
    print("on it goes", file=terminal.stdout)
    line.end()
    assert "on it goes" in terminal.screen()[0]


def test_it_waits_while_the_terminal_is_held(line: ProgressLine, terminal: Terminal, clock: Clock) -> None:
    termios.tcflow(terminal.near, termios.TCOOFF)  # Ctrl-S
    before = terminal.read()
    clock.now += 1
    line.tick(3000, 40)  # comes back
    termios.tcflow(terminal.near, termios.TCOON)
    assert terminal.read() == before
    clock.now += 1
    line.tick(4000, 50)
    assert terminal.read() != before


# ── where there is none ─────────────────────────────────────────────────────────────────────────────────────────────


def through_a_pipe(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    terminal.stdout = os.fdopen(writer, "w")
    os.close(reader)


NOT_WANTED: dict[str, Callable[[Terminal, pytest.MonkeyPatch], Any]] = {
    "dumb": lambda terminal, patch: patch.setenv("TERM", "dumb"),
    "no TERM": lambda terminal, patch: patch.delenv("TERM"),
    "CI": lambda terminal, patch: patch.setenv("CI", "true"),
    "torchrun": lambda terminal, patch: patch.setenv("WORLD_SIZE", "2"),
    "stdout into a pipe": through_a_pipe,
    "stdout of somebody else": lambda terminal, patch: setattr(terminal, "stdout", io.StringIO()),
}


@pytest.mark.parametrize("why", NOT_WANTED)
def test_there_is_none_where_it_would_be_in_the_way(
    terminal: Terminal, clock: Clock, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    NOT_WANTED[why](terminal, monkeypatch)
    line = ProgressLine(terminal.stderr)
    line.begin()
    for _ in range(3):
        clock.now += 1
        line.tick(100, 10)
    line.end()
    assert terminal.read() == b""
    assert "write" not in vars(terminal.stderr.buffer.raw)


def test_files_get_what_they_would(terminal: Terminal, clock: Clock, tmp_path: Any) -> None:
    with (tmp_path / "out").open("w") as out, (tmp_path / "err").open("w") as err:
        terminal.stdout = out
        seen = ProgressLine(terminal.stderr)  # 1> out: shown, and not in the file
        unseen = ProgressLine(err)  # 2> err: not shown
        for each in (seen, unseen):
            each.begin()
        for step in range(3):
            clock.now += 1
            for each in (seen, unseen):
                each.tick(step + 1, step)
            print("episode", step, file=terminal.stdout)
        assert shown(terminal)
        for each in (seen, unseen):
            each.end()
    assert (tmp_path / "out").read_text() == "episode 0\nepisode 1\nepisode 2\n"
    assert (tmp_path / "err").read_text() == ""
    assert terminal.screen() == [""]


def test_in_a_process_of_its_own_with_a_traceback_in_the_end(terminal: Terminal) -> None:
    program = """
        import sys, time
        from rldebug.render.progress_line import ProgressLine
        line = ProgressLine(sys.stderr)
        line.begin()
        for step in range(12):
            time.sleep(0.1)
            line.tick(step + 1, step)
        assert "rich" not in sys.modules and "torch" not in sys.modules
        raise SystemError("as it was")
    """
    run = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)],
        stdin=terminal.near,
        stdout=terminal.near,
        stderr=terminal.near,
    )
    try:
        assert run.wait(timeout=60) == 1
    finally:
        if run.poll() is None:
            run.send_signal(signal.SIGKILL)
            run.wait()
    assert b"env steps" in terminal.read()
    assert terminal.screen()[0].startswith("Traceback")
    assert terminal.screen()[-2:] == ["SystemError: as it was", ""]


# ── several lines ───────────────────────────────────────────────────────────────────────────────────────────────────


def view(pace: str, columns: int, rows: int) -> list[str]:
    return ["", f"── {pace}"[:columns], "error[ADV003]", "losses"] if rows >= 10 else []


BLOCK = ["", "── 0:01 · 1 205 env steps (1 204/s) · 20 updates (20.0/s)", "error[ADV003]", "losses"]


@pytest.fixture
def block(terminal: Terminal, clock: Clock) -> Iterator[ProgressLine]:
    made = ProgressLine(terminal.stderr)
    made.begin()
    made.show(view)
    made.tick(1, 0)
    clock.now += 1
    made.tick(1205, 20)
    assert terminal.screen() == BLOCK
    yield made
    made.end()


def stands(terminal: Terminal) -> bool:
    return terminal.screen()[-1] == "losses"


def test_a_view_stands_below_what_is_printed_and_is_gone_in_the_end(
    block: ProgressLine, terminal: Terminal, clock: Clock
) -> None:
    print("episode 1", file=terminal.stdout)
    assert terminal.screen() == ["episode 1", ""]
    clock.now += 1
    block.tick(1205, 20)
    assert terminal.screen()[:3] == ["episode 1", "", "── 0:02 · 1 205 env steps (602.0/s) · 20 updates (10.0/s)"]
    print("x" * 250, file=terminal.stdout)  # longer than the terminal is wide
    assert terminal.screen() == ["episode 1", "x" * 250, ""]
    clock.now += 1
    block.tick(1205, 20)
    assert stands(terminal)
    block.end()
    assert terminal.screen() == ["episode 1", "x" * 250, ""]


def test_a_view_comes_back_soon_but_does_not_flicker(block: ProgressLine, terminal: Terminal, clock: Clock) -> None:
    for _ in range(8):  # one line after the other
        print("step", file=terminal.stdout)
        clock.now += 0.02
        block.tick(1205, 20)
        assert not stands(terminal)
    clock.now += 0.06
    block.tick(1205, 20)
    assert terminal.screen() == ["step"] * 8 + BLOCK  # what was made before
    before = terminal.read()
    clock.now += 0.06
    block.tick(1205, 20)
    assert terminal.read() == before


def test_a_view_waits_for_the_end_of_a_line_and_of_a_bar(block: ProgressLine, terminal: Terminal, clock: Clock) -> None:
    for unfinished in ("training ...", "\r10%|#  |", "\r20%|## |"):
        terminal.stdout.write(unfinished)
        terminal.stdout.flush()
        clock.now += 5
        block.tick(3000, 40)
    assert terminal.screen() == ["20%|## | ..."]
    terminal.stdout.write("\n")
    clock.now += 5
    block.tick(3000, 40)
    assert stands(terminal)
    terminal.stdout.write("\n\x1b[2A")  # as a bar of rich
    terminal.stdout.flush()
    before = terminal.read()
    clock.now += 5
    block.tick(3000, 40)
    assert terminal.read() == before


@pytest.mark.parametrize("seed", range(10))
def test_whatever_is_printed_ends_as_it_would_without_a_view(terminal: Terminal, clock: Clock, seed: int) -> None:
    chance, plain = random.Random(seed), b""
    words = ["episode\n", "half ", "\r12%|##  |", "\n", "", "\x1b[32mgreen\x1b[0m\n", "two\nlines\n", "\rx\n"]
    line = ProgressLine(terminal.stderr)
    line.begin()
    line.show(view)
    drawn = 0
    for step in range(80):
        if chance.random() < 0.5:
            clock.now += chance.random()
            line.tick(step, step)
            drawn += stands(terminal)
        else:
            word = chance.choice(words)
            stream = chance.choice([terminal.stdout, terminal.stderr])
            stream.write(word)
            stream.flush()
            plain += word.replace("\n", "\r\n").encode()
            assert terminal.screen() == screen(plain)
    line.end()
    assert terminal.screen() == screen(plain)
    assert drawn


def test_one_line_does_in_a_small_window_and_a_resized_one_is_drawn_anew(
    block: ProgressLine, terminal: Terminal, clock: Clock
) -> None:
    clock.now += 0.1
    terminal.resize(30, rows=8)
    block.tick(1205, 20)
    assert terminal.screen() == ["rldebug  0:01 · 1 205 env ste"]
    clock.now += 0.1
    terminal.resize(30)
    block.tick(1205, 20)
    assert terminal.screen() == [each[:29].rstrip() for each in BLOCK]
    clock.now += 0.1
    terminal.resize(30, rows=4)  # as many rows as lines
    block.tick(1205, 20)
    assert len(terminal.screen()) == 1


def test_what_comes_by_other_ways_is_not_taken_away_with_the_view(
    block: ProgressLine, terminal: Terminal, clock: Clock
) -> None:
    os.write(terminal.near, b"from C\nand again, longer than what stood here: it is written over, and that is all\n")
    clock.now += 1
    block.tick(3000, 40)
    assert terminal.screen()[0] == "from C"
    assert terminal.screen()[1].startswith("and again, longer")
    assert stands(terminal)
    block.end()
    assert len(terminal.screen()) == 3


def test_a_forked_process_that_prints_takes_a_view_away_too(block: ProgressLine, terminal: Terminal) -> None:
    child = os.fork()
    if child == 0:
        terminal.stdout.write("worker\n")
        terminal.stdout.flush()
        os._exit(0 if signal.getsignal(signal.SIGTSTP) is signal.SIG_DFL else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert terminal.screen() == ["worker", ""]


def test_ctrl_z_hands_back_an_empty_line(
    block: ProgressLine, terminal: Terminal, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []

    def stop(number: int) -> None:
        seen.append((terminal.screen(), signal.getsignal(number)))

    monkeypatch.setattr(signal, "raise_signal", stop)
    os.kill(os.getpid(), signal.SIGTSTP)
    assert seen == [([""], signal.SIG_DFL)]
    clock.now += 1
    block.tick(3000, 40)
    assert stands(terminal)
    block.end()
    assert signal.getsignal(signal.SIGTSTP) is signal.SIG_DFL


def test_a_program_that_minds_ctrl_z_itself_keeps_its_handler(terminal: Terminal, clock: Clock) -> None:
    line = ProgressLine(terminal.stderr)
    line.begin()
    signal.signal(signal.SIGTSTP, signal.SIG_IGN)
    try:
        line.show(view)
        line.end()
        assert signal.getsignal(signal.SIGTSTP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)


def test_a_view_that_fails_takes_nothing_along(terminal: Terminal, clock: Clock) -> None:
    def fail(pace: str, columns: int, rows: int) -> list[str]:
        raise ValueError("nothing to show")

    line = ProgressLine(terminal.stderr)
    line.begin()
    line.show(fail)
    for step in range(3):
        clock.now += 1
        line.tick(step, step)
    assert line.due == float("inf")
    assert terminal.read() == b""
