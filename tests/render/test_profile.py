"""A timing in a terminal: the bars are the wall clock, and advice comes with its gain."""

import ast
import io
import random
import re
from dataclasses import replace

import pytest
from rich.console import Console

from rldebug.evidence.source import Source
from rldebug.evidence.timing import (
    Environment,
    Held,
    Host,
    Kept,
    Measured,
    Network,
    Slice,
    Spot,
    Sync,
    Timing,
    Window,
)
from rldebug.finding import Finding, Report, Where
from rldebug.render.profile import advice, memory, print_profile, render, sparks, spot_in, together
from rldebug.render.profile_rows import brief, percents, rows, size
from rldebug.render.terminal import block

FILE = "train.py"
MIB = 2**20
TEXT = "\n".join(f"line_{i} = work({i})" for i in range(1, 260))

# part, the user's functions (outermost first, with the line in each), library frames below, before, after, seconds
COLLECT = (("main", 210), ("collect", 88))
LINEAR = (("torch/nn/modules/module.py", "_call_impl", "module"), ("torch/nn/modules/linear.py", "forward", "module"))
STEP = (("gymnasium/envs/classic_control/cartpole.py", "step", "environment"),)
WRAPPED = (("gymnasium/wrappers/common.py", "step", "wrapper"),)
ADAM = (("torch/optim/optimizer.py", "wrapper", "optimizer"), ("torch/optim/adam.py", "step", "optimizer"))
AUTOGRAD = (("torch/_tensor.py", "backward", ""), ("torch/autograd/__init__.py", "backward", ""))
WRITER = (("torch/utils/tensorboard/writer.py", "add_scalar", ""),)
PROGRAM = (
    ("simulator", COLLECT, STEP, "step", "step", 9.1),
    ("wrappers", COLLECT, WRAPPED, "step", "step", 2.4),
    ("reset", (("main", 210), ("collect", 91)), (("gymnasium/core.py", "reset", ""),), "step", "reset", 0.9),
    ("acting", (("main", 210), ("collect", 80), ("act", 45)), LINEAR, "step", "step", 5.2),
    ("copies", (("main", 210), ("collect", 79)), (), "step", "step", 1.6),
    ("buffer write", (("main", 210), ("collect", 95), ("Buffer.add", 30)), (), "step", "step", 0.8),
    ("advantages", (("main", 214), ("advantages", 120)), (), "step", "backward", 6.4),
    ("buffer sample", (("main", 216), ("Buffer.batches", 36)), (), "update", "backward", 0.7),
    ("loss", (("main", 218), ("loss", 140)), LINEAR, "update", "backward", 3.1),
    ("backward", (("main", 220),), AUTOGRAD, "update", "backward", 4.2),
    ("optimizer", (("main", 222),), ADAM, "backward", "update", 2.9),
    ("logging", (("main", 230), ("report", 190)), WRITER, "update", "step", 0.11),
    ("saving", (("main", 232),), (("torch/serialization.py", "save", ""),), "update", "step", 0.05),
    ("other", (("main", 212), ("normalise", 60)), (), "step", "step", 1.0),
    ("other", (("main", 240), ("<lambda>", 241)), (), "step", "step", 0.3),
)


def spot(function, line, kind="user", file=FILE):
    return Spot(file, function, line, kind, line, 4, 20)


def sliced(part, own, below, before, after, seconds, pieces=4):
    """A part in several slices: on neighbouring lines, as a sampler would find them."""
    outer, (function, line) = own[:-1], own[-1]
    for i in range(pieces):
        stack = [spot("<module>", 255), *(spot(*each) for each in outer), spot(function, line + i)]
        stack += [spot(name, 100 + i, kind, f"/venv/lib/site-packages/{file}") for file, name, kind in below]
        weight = (0.55, 0.25, 0.15, 0.05)[i] * seconds
        yield Slice(weight, max(1, round(weight * 500)), tuple(stack), before, after, part=part)


def windows(number=40, seconds=1.0, slowing=0.5, gpu=False):
    for i in range(number):
        pace = 1 - slowing * i / number
        more = {"allocated": 300 * MIB, "reserved": 512 * MIB, "gross": 900 * MIB, "utilisation": 0.34} if gpu else {}
        more |= {"temperature": 41.0 + i / 10, "fan": 30.0} if gpu and i % 2 else {}
        yield Window(
            began=seconds * i,
            seconds=seconds,
            env_steps=round(1400 * pace),
            updates=round(160 * pace),
            parts={"simulator": 0.3 * seconds * pace, "acting": 0.2 * seconds, "backward": 0.5 * seconds},
            resident=(210 + 3 * i) * MIB,
            cpu=0.97 * seconds,
            children_cpu=0.1 * seconds,
            faults=2 * (i == 3),
            **more,
        )


def moments(slices, seconds=1.9):
    """An iteration: acting first, then learning, a piece every 2 ms or so."""
    chance = random.Random(0)
    early = [i for i, each in enumerate(slices) if each.after in ("step", "reset")]
    late = [i for i, each in enumerate(slices) if each.after not in ("step", "reset")]
    now, found, events = 0.0, [], []
    while now < seconds:
        chosen = early if now < 0.55 * seconds else late
        took = chance.expovariate(1 / 0.002)
        which = chance.choices(chosen, weights=[slices[i].seconds for i in chosen])[0]
        found.append((now, took, which))
        events.append((now, slices[which].after))
        now += took
    return tuple(found), tuple((at, kind) for at, kind in events if kind != "end")


def made(gpu=False, program=PROGRAM, **fields):
    slices = tuple(each for part in program for each in sliced(*part))
    seconds = sum(each.seconds for each in slices)
    iteration, happened = moments(slices)
    body = ((64, 4), (64,), (64, 64), (64,))
    bytes_of = {"gradient_bytes": 18_184, "optimizer_bytes": 36_400, "optimizer": "Adam", "training_rows": 64}
    at = (0.0, 10.0, 20.0, 38.0)
    grown = Held("episode_infos", FILE, 92, at, (0, 900, 1900, 3600), (0, MIB, 2 * MIB, 4 * MIB), graphs=12)
    threads = {"1 thread": 0.0012, "4 threads": 0.0019}
    usual = {
        "start_up": 2.1,
        "own": 0.42,
        "interval": 0.002,
        "env_steps": 40_960,
        "updates": 6_400,
        "phases": 20,
        "windows": tuple(windows(gpu=gpu)),
        "environments": (Environment("CartPole-v1", 4, 0, 40_960, 10_240, 310, created=(FILE, 200)),),
        "networks": (
            Network("agent.actor", (*body, (2, 64), (2,)), acting_rows=4, **bytes_of),
            Network("agent.critic", (*body, (1, 64), (1,)), **bytes_of),
        ),
        "host": Host(cores=8, threads=4, gpu="NVIDIA H200" if gpu else ""),
        "held": (grown,),
        "kept": (Kept(spot("loss", 140), 3 * MIB, 12), Kept(spot("loss", 143), MIB, 3)),
        "moments": iteration,
        "happened": happened,
        "yardstick": {
            "returns": Measured("returns", "rldebug.parts.returns.gae, 512 × 4", 1.3e-5, 0.31),
            "threads": Measured("threads", "an update in these shapes", 0.0012, detail=threads),
        },
        "sources": (Source(FILE, TEXT, ast.parse(TEXT)),),
    }
    if gpu:
        usual["syncs"] = (Sync(spot("loss", 146), 80, 8.0, ".item"), Sync(spot("main", 222), 40, 4.0, ".cpu"))
        usual["kernels"] = {"launches": 412.0, "kernel_seconds": 0.0012, "seconds": 0.0084}
    return Timing(seconds=seconds, slices=slices, **(usual | fields))


def slow(code="PRF900", speedup=1.43, severity="warning", message="advantages are worked out in a Python loop", **more):
    given = {"name": "advantages-in-python-loop", "component": "performance", "seen": "12 ms per rollout", "help": "h"}
    where = Where(file=FILE, line=120)
    given |= {"expected": "0.013 ms", "confidence": 0.9, "where": where}
    return Finding(**{"code": code, "severity": severity, "message": message, "speedup": speedup, **given, **more})


PPO = made()
ON_GPU = made(gpu=True)
NOTHING = Timing(seconds=0.0)
ADVISED = Report(
    "profile",
    (
        slow(),
        slow("PRF904", 1.2, message="the network acts on one row", where=Where(file=FILE, line=45)),
        slow("ROL001", None, "note", "something else"),
    ),
    checked=("PRF900",),
)
CLEAN = Report("profile", checked=("PRF900",))


def text(timing, report=CLEAN, width=100):
    return render(timing, report, width).plain


def line(label, timing, report=CLEAN, width=200):
    lines = text(timing, report, width).splitlines()
    return next((each.strip() for each in lines if each.strip().startswith(label)), None)


def shares(timing, width=100):
    """As they are printed, of the rows that are not within another."""
    found = re.findall(r"^  (?!╰).*? +(\d+\.\d) %", text(timing, width=width), re.MULTILINE)
    return [float(each) for each in found]


def test_the_head_says_how_fast_and_on_what():
    head = text(PPO, width=300).splitlines()[0]
    assert head.startswith("38.8 s of training · 40 960 env steps (1 057/s) · 6 400 updates (165/s)")
    assert "≈ 409 600 samples learned, each seen 10 times" in head
    assert line("start-up", PPO) == "start-up      2.1 s before that, not counted here · watching took 420 ms (1.1 %)"
    assert line("machine", PPO) == "machine       8 cores · 4 torch threads · no workers · no GPU"
    crowded = replace(PPO, host=Host(cores=1.5, threads=1, workers=6, worker_threads=2))
    assert line("machine", crowded).endswith("1.5 cores · 1 torch thread · 6 workers of 2 threads · no GPU")


@pytest.mark.parametrize("width", [80, 100, 110])
def test_bars_add_up_to_all_of_it(width):
    found = shares(PPO, width)
    assert sum(found) == pytest.approx(100.0, abs=1e-9)
    assert found[:-1] == sorted(found[:-1], reverse=True)
    assert all(len(each) <= width for each in text(PPO, ADVISED, width).splitlines())


def test_a_part_has_its_cost_each_time_and_its_line():
    assert re.search(r"23\.5 % +9\.10 s +222 µs/step +train\.py:88 collect$", line("simulator", PPO))
    assert re.search(r"656 µs/update +train\.py:220 main$", line("backward", PPO))
    assert re.search(r"320 ms/rollout +train\.py:120 advantages$", line("advantages", PPO))


def test_the_longest_bar_is_the_largest_part_and_none_is_empty():
    bars = {each.split()[0]: each.count("█") for each in text(PPO).splitlines() if "█" in each and "/" in each}
    assert max(bars, key=bars.get) == "simulator"
    assert bars["simulator"] == pytest.approx(bars["backward"] * 9.1 / 4.2, abs=2.5)


def test_small_parts_are_one_row():
    assert re.search(r" 0\.4 % +0\.16 s$", line("2 smaller parts", PPO))
    assert line("logging", PPO) is None
    assert line("saving", PPO) is None
    one = [each for each in PROGRAM if each[0] != "saving"]
    assert line("logging", made(program=one)) is not None  # one alone keeps its name


def test_other_is_split_into_functions_with_their_lines():
    found = [(each.name, each.spot.line, each.percent) for each in rows(PPO) if each.within]
    assert found == [("normalise", 60, 2.6), ("<lambda>", 241, 0.8)]
    assert re.search(r"╰ normalise +2\.6 % +1\.00 s +train\.py:60$", line("╰ normalise", PPO))


def test_time_in_no_slice_is_not_hidden():
    longer = replace(PPO, seconds=PPO.seconds + 4.0)
    assert next(each.percent for each in rows(longer) if each.name == "not sampled") == pytest.approx(9.4, abs=0.06)
    assert sum(shares(longer)) == pytest.approx(100.0, abs=1e-9)


def test_a_users_own_name_is_a_part():
    named = made(program=[*PROGRAM, ("my own very long name of a thing", (("main", 250),), (), "step", "step", 8.0)])
    assert re.search(r"my own very lon.*… +█", text(named, width=80))
    assert sum(shares(named, 80)) == pytest.approx(100.0, abs=1e-9)


def test_library_lines_stand_in_where_there_is_none_of_the_users():
    alone = Timing(5.0, slices=(Slice(5.0, 9, (Spot("/venv/lib/threading.py", "wait", 7),), part="waiting"),))
    assert line("waiting", alone).endswith("threading.py:7 wait")


def test_the_pace_over_time_has_its_first_and_last_figures():
    assert re.search(r"█.*▅  1 295 → 822$", line("env steps/s", PPO))
    assert line("updates/s", PPO).endswith("148 → 94")
    assert line("memory", PPO) == "memory        210 MiB → 327 MiB (+117 MiB) · 2 pages fetched from disk"
    assert line("env steps/s", replace(PPO, windows=PPO.windows[:1])) is None
    idle = tuple(replace(each, updates=0) for each in PPO.windows)
    assert line("updates/s", replace(PPO, windows=idle)) is None


def test_sparks_begin_at_zero_and_fit():
    assert sparks([0, 1, 2, 4], 10) == "▁▃▅█"
    assert len(sparks(list(range(1000)), 48)) == 48
    assert sparks([0.0, 0.0], 10) == ""


def test_gpu_rows_only_where_there_are_readings():
    assert line("GPU", PPO) is None
    assert line("host waits", PPO) is None
    assert line("GPU", ON_GPU) == (
        "GPU           34 % of the time busy · 300 MiB in tensors, 512 MiB reserved, 900 MiB in all · 45 °C · fan 30 %"
    )
    assert line("host waits", ON_GPU) == "host waits    12 times per update: train.py:146 .item 8 · train.py:222 .cpu 4"
    assert line("launches", ON_GPU).endswith("412 kernels per update, that run for 1.2 ms of its 8.4 ms")
    assert line("machine", ON_GPU).endswith("NVIDIA H200")
    hot = tuple(replace(each, fan=None, allocated=None) for each in ON_GPU.windows)
    assert "512 MiB reserved, 900 MiB in all · 45 °C" in line("GPU", replace(ON_GPU, windows=hot))
    assert "fan" not in line("GPU", replace(ON_GPU, windows=hot))


def test_advice_is_sorted_with_its_gain_and_the_gain_of_all():
    said = text(PPO, ADVISED, 120)
    assert re.search(r"×1\.43 as fast  PRF900 advantages are worked out in a Python loop \(train\.py:120\)", said)
    assert said.index("×1.43") < said.index("×1.20") < said.index("×1.72 as fast  all of them together")
    assert "ROL001" not in said  # no gain; the report tells of it
    assert together(advice(ADVISED)) == pytest.approx(1.43 * 1.2)
    assert "together" not in text(PPO, Report("profile", (slow(),)))


def test_advice_that_follows_from_another_is_not_counted_twice():
    both = Report("profile", (slow(), slow("PRF904", 1.2, follows=("PRF900",))))
    assert [each.code for each in advice(both)] == ["PRF900"]


def test_many_advices_are_counted():
    many = Report("profile", tuple(slow(f"PRF90{i}", 1.1 + i / 10) for i in range(8)))
    said = text(PPO, many)
    assert said.count(" as fast  PRF") == 5
    assert "and 3 more below" in said


def test_nothing_worth_doing_is_said():
    assert "faster: nothing here is worth 5 %" in text(PPO)
    assert "as fast" not in text(PPO)


def test_a_finding_tells_its_gain():
    assert "= gain      the whole run ×1.43 as fast" in block(slow()).plain
    assert "= gain      the whole run ×12 as fast" in block(slow(speedup=12.3)).plain
    assert "gain" not in block(slow(speedup=None)).plain


@pytest.mark.parametrize("width", [80, 110])
def test_nothing_to_show(width):
    said = text(NOTHING, CLEAN, width)
    assert "no samples were taken" in said
    assert "0 env steps · 0 updates" in said
    assert "faster: nothing can be said without samples" in said
    assert "memory" not in said


def test_problems_are_told_once():
    troubled = replace(PPO, problems=("the timer could not be set", "known to both"))
    said = text(troubled, Report("profile", problems=("known to both",)))
    assert "! the timer could not be set" in said
    assert "known to both" not in said


def test_no_colour_where_none_is_wanted(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    out = io.StringIO()
    print_profile(PPO, ADVISED, out)
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]", out.getvalue())
    assert all(len(re.sub(r"\x1b\[[0-9;]*m", "", each)) <= 80 for each in out.getvalue().splitlines())
    assert "█" in out.getvalue()


def test_names_are_not_read_as_markup():
    told = Console(file=io.StringIO(), width=100)
    odd = made(program=[*PROGRAM, ("[bold red]x[/]", (("main", 250),), (), "step", "step", 8.0)])
    told.print(render(odd, CLEAN))
    assert "[bold red]x[/]" in told.file.getvalue()


def test_places_are_cut_from_the_left():
    at = Spot("/home/someone/projects/agent/train.py", "collect", 88, "user")
    assert spot_in(at, 60) == "/home/someone/projects/agent/train.py:88 collect"
    assert spot_in(at, 30) == "train.py:88 collect"
    assert spot_in(at, 12) == "train.py:88"
    assert spot_in(at, 6) == "train…"


def test_shares_are_rounded_so_that_they_add_up():
    assert percents([1, 1, 1]) == [33.4, 33.3, 33.3]
    assert sum(percents([0.1] * 7 + [3.0])) == pytest.approx(100.0, abs=1e-9)
    assert percents([0.0, 0.0]) == [0.0, 0.0]


def test_numbers_are_short():
    assert [brief(each) for each in (1234.5, 38.23, 0.00015, 0.0123, 5e-9, 0.0)] == [
        "1 234 s", "38.2 s", "150 µs", "12.3 ms", "5 ns", "0 s"
    ]  # fmt: skip
    assert [size(each) for each in (12, 1536, 64 * MIB, 23.5 * 2**30)] == ["12 B", "1.5 KiB", "64 MiB", "23.5 GiB"]


def test_pages_that_were_fetched_from_disk_are_told():
    windows = [Window(0.0, 1.0, resident=2**20), Window(1.0, 1.0, resident=2**21, faults=7)]
    assert memory(windows).endswith("· 7 pages fetched from disk")
    assert "disk" not in memory(windows[:1])
