"""The live view: in the order of the page, never wider or higher than there is room, and never in the way."""

from __future__ import annotations

import io
import os
import pty
import random
import re
import select
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.cells import cell_len

from rldebug.evidence.run import Reading, encode
from rldebug.finding import Finding, Report, Where
from rldebug.render.live import Curve, Live, spark
from tests.render.test_progress_line import screen

PACE = "0:42 · 61 440 env steps (1 460/s) · 480 updates (11/s)"
NUMBERS = {
    "loss/policy": -0.02,
    "loss/value": 1.5,
    "pace/env_steps": 1460.4,
    "host/resident": 337e6,
    "grad/norm@policy": 0.5,
    "grad/norm@critic": 2.5,
    "step/log10_ratio": -3.0,
    "value/residual_var": 0.43,
    "value/mean": 3.1,
    "target/mean": 3.4,
    "policy/kl": 0.012,
    "policy/entropy": 1.02,
    "policy/clip_fraction": 0.083,
    "episode/return_mean": 0.5,
    "nobody/asked": 7.0,
}
ORDER = ("rldebug", "error[ADV003]", "suspects", "return", "policy", "values", "gradients", "pace", "losses")


def reading(update: int, numbers: Mapping[str, float]) -> str:
    return encode(Reading(update, 16 * update, 0.1 * update, numbers)) + "\n"


def record(folder: Path, readings: list[Mapping[str, float]], start: int = 0) -> None:
    with (folder / "readings.jsonl").open("a", encoding="utf-8") as file:
        file.writelines(reading(start + i, each) for i, each in enumerate(readings))


def finding(
    code: str, severity: Any = "error", message: str = "advantages have the wrong sign", **more: Any
) -> Finding:
    texts = {"seen": "s", "expected": "e", "help": "h"}
    return Finding(code, "a-name", "advantage", severity, message, confidence=0.99, **{**texts, **more})


def report(*findings: Finding) -> Report:
    return Report("run", findings=findings, checked=("ADV003", "ADV004"))


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for each in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(each, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    far, near = pty.openpty()
    with os.fdopen(near, "w", encoding="utf-8") as file:
        yield file
    os.close(far)


@pytest.fixture
def live(terminal: Any, tmp_path: Path) -> Live:
    rising = [{**NUMBERS, "episode/return_mean": 10 * (1 - 0.9**i)} for i in range(60)]
    record(tmp_path, rising)
    made = Live("train.py", tmp_path, terminal)
    made.now(60, 960, ())
    return made


def plain(lines: list[str]) -> list[str]:
    return [re.sub(r"\x1b\[[0-9;]*m", "", each) for each in lines]


def row(live: Live, label: str, columns: int = 109) -> str:
    [found] = [each for each in plain(live.lines(PACE, columns, 40)) if each.startswith(f" {label}")]
    return found


# ── what it says ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_order_is_that_of_the_page(live: Live) -> None:
    live.found(report(finding("ADV003", where=Where("train.py", 93, update=3, env_step=48))))
    lines = plain(live.lines(PACE, 109, 40))
    assert lines[0] == ""  # between what the program prints and this
    assert [re.split(r"[ ─]+", each)[1] for each in lines[1:]] == list(ORDER)
    assert re.fullmatch(rf"── rldebug · train\.py · {re.escape(PACE)} ─+", lines[1])
    assert re.fullmatch(r" error\[ADV003\] advantages have the wrong sign +train\.py:93", lines[2])
    assert re.fullmatch(r" suspects +advantage ████████ 0\.99 +judged 0:00 ago", lines[3])


def test_numbers(live: Live) -> None:
    assert re.search(r"kl 0\.012 +entropy 1\.02 ▄+ +clipped 8\.3 %", row(live, "policy"))
    assert re.search(r"residual variance 0\.43 ▄+ +mean 3\.1 +of targets 3\.4", row(live, "values"))
    assert re.search(r"norm policy 0\.5 ▄+ +norm critic 2\.5 ▄+ +steps 0\.1 % of weights", row(live, "gradients"))
    assert re.search(r"env steps/s 1 460 ▄+ +memory 337 MB", row(live, "pace"))


def test_speed_and_plateau_are_told_apart(live: Live) -> None:
    assert re.search(r"0\.9\d* → 9\.9\d* ▁.*█ +levelled out +speed half by \d+, 90 % by \d+ env", row(live, "return"))


def test_of_what_did_not_move_the_level_is_told(terminal: Any, tmp_path: Path) -> None:
    noise = random.Random(0)
    record(tmp_path, [{"reward/mean": 2 + 0.1 * noise.random()} for _ in range(40)])
    live = Live("train.py", tmp_path, terminal)
    live.now(40, 640, ())
    assert re.search(r"reward +stays at 2\.0\d \(±0\.0\d+\)", row(live, "reward"))


def test_before_anything_was_judged_and_where_nothing_is_wrong(live: Live, terminal: Any, tmp_path: Path) -> None:
    assert plain(live.lines(PACE, 109, 40))[2] == " being looked at …"
    live.found(Report("run"))
    assert plain(live.lines(PACE, 109, 40))[2].startswith(" nothing could be checked yet ")
    live.found(report(finding("ADV009", "note")))
    assert re.fullmatch(
        r" nothing wrong found so far +2 rules ran · judged 0:00 ago", plain(live.lines(PACE, 109, 40))[2]
    )
    only = Live("train.py", tmp_path, terminal, judged=False)
    assert plain(only.lines(PACE, 109, 40))[2] == " recorded only, not judged"


def test_findings_beyond_a_few_are_counted(live: Live) -> None:
    live.found(report(*(finding(f"ADV00{i}") for i in range(5))))
    lines = plain(live.lines(PACE, 109, 40))
    assert sum("error[" in each for each in lines) == 3
    assert "2 more · judged" in row(live, "suspects")
    assert len(lines) == 12
    low = plain(live.lines(PACE, 109, 16))  # half of the window: the least telling lines go
    assert [re.split(r"[ ─]+", each)[1] for each in low[3:]] == ["suspects", "return", "policy", "values", "gradients"]


def test_what_was_read_long_ago_says_so(live: Live) -> None:
    assert "at update" not in row(live, "policy")
    live.now(400, 6400, [3.0, 5.0])
    assert row(live, "policy").endswith("at update 59")
    assert "at update" not in row(live, "return")  # episodes are counted without a reading


def test_returns_are_known_without_a_reading(terminal: Any, tmp_path: Path) -> None:
    live = Live("train.py", tmp_path / "nothing was recorded", terminal)
    live.now(1, 16, np.array([3.0, 5.0]))
    assert row(live, "return").split() == ["return", "4"]


# ── room ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("columns", [48, 60, 71, 72, 79, 100, 119, 200])
def test_no_line_is_wider_than_the_terminal(live: Live, columns: int) -> None:
    far = Where("/home/somebody/" + "a-long-folder/" * 9 + "train.py", 93)
    live.found(
        report(finding("ADV003", message="much to say " * 20, where=far), finding("ADV004", message="\u5024" * 90))
    )
    for rows in (10, 24, 60):
        lines = plain(live.lines(PACE, columns, rows))
        assert 5 <= len(lines) <= min(12, rows // 2)
        assert max(map(cell_len, lines)) <= columns


@pytest.mark.parametrize(("columns", "rows"), [(47, 40), (109, 9), (0, 0)])
def test_a_window_that_is_too_small_gets_none(live: Live, columns: int, rows: int) -> None:
    assert live.lines(PACE, columns, rows) == []


def test_a_terminal_that_cannot_show_it_gets_none(live: Live, tmp_path: Path) -> None:
    latin = io.TextIOWrapper(io.BytesIO(), encoding="latin-1")
    assert Live("train.py", tmp_path, latin).lines(PACE, 109, 40) == []


# ── colours ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_colours_are_left_out_where_they_are_not_wanted(
    terminal: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def colours() -> set[str]:
        live = Live("train.py", tmp_path, terminal)
        live.found(report(finding("ADV003")))
        return set(re.findall(r"[;\[](3[1-7])(?=[;m])", "".join(live.lines(PACE, 109, 40))))

    assert {"31", "34"} <= colours()
    monkeypatch.setenv("NO_COLOR", "1")
    assert colours() == set()


def test_what_the_program_named_cannot_move_the_cursor(terminal: Any, tmp_path: Path) -> None:
    record(tmp_path, [{"grad/norm@\x1b[2Jcritic\n": 1.0}])
    live = Live("\x1b[2J.py", tmp_path, terminal)
    live.now(1, 16, ())
    live.found(report(finding("ADV003", message="a\nb\x1b[A\x07", where=Where("\x1b]0;x\x07.py", 1))))
    drawn = live.lines(PACE, 109, 40)
    assert not re.search(r"[\x00-\x1f\x7f]", "".join(plain(drawn)))
    assert len(drawn) == 5


# ── readings ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_readings_are_read_on_and_a_line_half_written_waits(live: Live, tmp_path: Path) -> None:
    line = reading(60, {**NUMBERS, "policy/kl": 0.5})
    with (tmp_path / "readings.jsonl").open("a") as file:
        file.write(line[:50])
        file.flush()
        live.now(61, 976, ())
        assert "kl 0.012" in row(live, "policy")
        file.write(line[50:])
    live.now(61, 976, ())
    assert "kl 0.5" in row(live, "policy")
    (tmp_path / "readings.jsonl").write_bytes(b"\0" * live._at)  # what was read is not read again
    live.now(61, 976, ())
    assert "kl 0.5" in row(live, "policy")


@pytest.mark.filterwarnings("error")
def test_a_run_that_blows_up_is_shown_too(terminal: Any, tmp_path: Path) -> None:
    wild = [1.0, -1e308, 1e308, 1e308, np.inf, -np.inf, np.nan] * 4
    record(tmp_path, [dict.fromkeys([*NUMBERS, "episode/return_mean"], each) for each in [*wild, 12.0, 1e300]])
    live = Live("train.py", tmp_path, terminal)
    live.now(30, 480, [np.inf, 1e308])
    assert "entropy 1e+300" in row(live, "policy")
    live.now(31, 496, [np.nan])
    record(tmp_path, [dict.fromkeys(NUMBERS, np.nan)], start=31)
    live.now(32, 512, [1.0])
    assert "kl nan" in row(live, "policy")


def test_a_curve_stays_small_and_spans_the_whole_run() -> None:
    curve = Curve()
    for i in range(10_000):
        curve.add(i, i, float(i))
    updates = [update for update, _, _ in curve.points]
    assert len(updates) < 256
    assert updates[0] == 0
    assert updates[-1] > 9_800
    assert len({b - a for a, b in pairwise(updates)}) == 1
    assert (curve.update, curve.last) == (9_999, 9_999.0)


def test_sparks() -> None:
    assert spark([(i, float(i)) for i in range(8)]) == "▁▂▃▄▅▆▇█"
    assert spark([(i, 1.0) for i in range(4)]) == "▄▄▄▄"
    assert spark([(0, 1.0), (1, np.nan), (2, 2.0)]) == ""
    late = spark([*((i, 0.0) for i in range(100)), (1000, 1.0)])  # by updates, not by readings
    assert late == "▁▁█"
    assert len(spark([(i, float(i % 7)) for i in range(1000)])) == 12


def test_it_draws_no_random_numbers(live: Live) -> None:
    before, theirs = random.getstate(), np.random.get_state()[1].tolist()
    live.found(report(finding("ADV003")))
    live.lines(PACE, 109, 40)
    assert random.getstate() == before
    assert np.random.get_state()[1].tolist() == theirs


# ── rldebug run --live ──────────────────────────────────────────────────────────────────────────────────────────────

PROGRAM = """
    import time
    import torch
    net = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    until = time.monotonic() + 1.3
    step = 0
    while time.monotonic() < until:
        optimizer.zero_grad()
        net(torch.ones(4, 3)).square().mean().backward()
        optimizer.step()
        step += 1
        time.sleep(0.02)
        if step % 25 == 0:
            print("step", step)
"""


def test_on_a_terminal_it_is_seen_while_the_program_runs_and_gone_in_the_end(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(textwrap.dedent(PROGRAM))
    far, near = pty.openpty()
    words = ["-m", "rldebug", "run", "--live", "--record-only", "train.py"]
    drop = ("CI", "WORLD_SIZE", "NO_COLOR", "LINES", "COLUMNS")
    given = {name: value for name, value in os.environ.items() if name not in drop}
    given |= {"TERM": "xterm", "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    program = subprocess.Popen([sys.executable, *words], cwd=tmp_path, stdout=near, stderr=near, env=given)
    os.close(near)
    said, until = b"", time.monotonic() + 60
    while time.monotonic() < until:
        if select.select([far], [], [], 1)[0]:
            try:
                said += os.read(far, 65536)
            except OSError:
                break  # it has ended
    assert program.wait(60) == 0
    os.close(far)
    assert re.search(rb"rldebug\S* \xc2\xb7 train.py \xc2\xb7 0:0", re.sub(rb"\x1b\[[0-9;]*m", b"", said))
    assert b"gradients" in said
    left = screen(said)
    assert left[0] == "step 25"
    assert all(re.match(r"step \d+|rldebug: recorded; |$", each) for each in left)
