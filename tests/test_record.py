"""The recorder: which updates it takes, what it costs on disk and in memory, and what it does when things go wrong."""

import contextlib
import errno
import gc
import itertools
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
import tracemalloc
import warnings
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import nn

import rldebug
from rldebug import catalogue, record
from rldebug.capture.device import read_device
from rldebug.capture.optimizers import OptimizerWatch
from rldebug.collect import Collector
from rldebug.config import ConfigError
from rldebug.evidence.run import read_run
from rldebug.record import Recorder, Schedule, new_run_folder

# ── the schedule ────────────────────────────────────────────────────────────────────────────────────────────────────


def taken(schedule: Schedule, updates: int, per_rollout: int = 0, line: int = 0) -> list[int]:
    """The updates a schedule takes; each recorded line adds `line` bytes."""
    chosen = []
    for update in range(updates):
        first = bool(per_rollout) and update % per_rollout == 0
        if schedule.due(update, first):
            assert schedule.due(update, first), "looking changes nothing"
            schedule.took(update, first)
            schedule.written += line
            chosen.append(update)
    return chosen


def test_a_reading_can_be_put_off():
    schedule = Schedule(every=96, detail=64, early=8)
    assert schedule.due(80, True)
    schedule.put_off(80)
    assert not schedule.due(89, True)
    assert schedule.due(90, False)
    schedule.call(85)
    assert schedule.due(85, False), "where there is something to see it is seen all the same"
    schedule.put_off(96_000)
    assert schedule.due(96_096, False), "by no more than there is between two readings"


def test_the_schedule_is_deterministic():
    assert taken(Schedule(), 20_000, 16) == taken(Schedule(), 20_000, 16)


def test_dense_at_first_then_one_in_every():
    chosen = taken(Schedule(every=64), 40_000)
    assert chosen[:64] == list(range(64)), "a short run is seen whole"
    gaps = np.diff([each for each in chosen if each > 4096])
    assert np.mean(gaps) == pytest.approx(64, rel=0.05)
    assert gaps.max() <= 96
    assert taken(Schedule(every=1), 1000) == list(range(1000))


@pytest.mark.parametrize("every", [16, 64])
def test_never_in_step_with_the_loop(every):
    """For loops of 1 to 64 updates per rollout every phase is sampled, and none many times as often as another."""
    for per_rollout in range(1, 65):
        chosen = [each for each in taken(Schedule(every=every), 120_000, per_rollout) if each > 4096]
        counts = np.bincount([each % per_rollout for each in chosen], minlength=per_rollout)
        rest = counts[1:] if per_rollout > 1 else counts
        assert counts.min() > 0, (
            f"with {per_rollout} updates per rollout, phases {np.flatnonzero(counts == 0)} are never seen"
        )
        assert rest.max() <= 6 * np.median(rest), f"with {per_rollout} updates per rollout: {counts}"


@pytest.mark.parametrize("per_rollout", [2, 7, 16, 32, 64, 320])
def test_first_minibatches_come_regularly(per_rollout):
    updates = 200_000
    firsts = [
        each for each in taken(Schedule(every=64), updates, per_rollout) if each % per_rollout == 0 and each > 4096
    ]
    assert len(firsts) >= (updates - 4096) / max(4 * 64, per_rollout) / 2
    assert np.diff(firsts).max() <= 2 * max(4 * 64, per_rollout) + per_rollout


def test_first_minibatches_do_not_crowd_out_the_others():
    """Where every update is the first of its rollout (A2C), the second clock changes nothing much."""
    assert len(taken(Schedule(), 40_000, 1)) <= 1.3 * len(taken(Schedule(), 40_000))


def test_details_are_one_in_detail():
    schedule = Schedule(every=1, detail=64)
    details = []
    for update in range(5000):
        if schedule.due_detail(update):
            details.append(update)
        schedule.took(update, False)
    assert details[:8] == [0, 1, 2, 4, 8, 16, 32, 64]
    assert set(np.diff(details[8:])) == {64}


def test_layers_are_looked_at_whenever_the_run_has_grown_by_an_eighth():
    schedule = Schedule(every=1)
    chosen = []
    for update in range(1_000_000):
        if schedule.due_layers(update):
            chosen.append(update)
            schedule.took(update, False)
            assert schedule.due_layers(update), "the steps of the update that was taken may come later"
    assert chosen[:9] == [0, 4, 8, 12, 16, 20, 24, 28, 32]
    assert all(after - before <= max(before // 8, 4) for before, after in itertools.pairwise(chosen))
    assert len(chosen) <= 100


def test_what_is_only_looked_at_does_not_count_as_a_look_at_layers():
    schedule = Schedule(every=64, lookout=True)
    for update in range(2000):
        schedule.took(update, False)
    kept, at = schedule._next, schedule._layers_at
    assert schedule.due(kept - 1, False)
    assert not schedule.keeps(kept - 1, False)
    assert not schedule.took(kept - 1, False)
    assert schedule._layers_at == at


def test_the_gap_grows_with_the_bytes_written():
    schedule = Schedule(every=64)
    chosen = np.array(taken(schedule, 400_000, line=10_000))
    assert schedule.written > 2 * schedule.doubling
    early, late = np.diff(chosen[(chosen > 4096) & (chosen < 20_000)]), np.diff(chosen[chosen > 350_000])
    assert np.mean(late) >= 3.5 * np.mean(early)


# ── a run of any length stays small ─────────────────────────────────────────────────────────────────────────────────

TEN_MILLION = 10_000_000


def big_line(recorder: Recorder, detailed: bool) -> None:
    """As large as readings get: three optimizers, big networks, everything handed over."""
    for i in range(180):
        recorder.number(f"group/a-metric-of-usual-length-{i}", 0.123456789 * (i + 1))
    if not detailed:
        return
    names = [f"policy.encoder.layers.{i}.attention.weight" for i in range(64)]
    for table, columns in itertools.product(("parameters@actor", "parameters@q1", "parameters@q2", "layers"), (7,)):
        recorder._pending.vectors["tables", table] = (names, torch.rand(64, columns))
    for i in range(8):
        recorder._pending.vectors["histograms", f"histogram/{i}"] = ((), torch.rand(34))
    recorder._pending.vectors["traces", "trace/value"] = ((), torch.rand(256))


@pytest.mark.parametrize(("every", "detail", "per_rollout"), [(64, 64, 16), (64, 64, 1), (1, 1, 32)], ids=str)
def test_ten_million_updates_stay_under_64_megabytes(every, detail, per_rollout, tmp_path, monkeypatch):
    """Only recorded updates cost, so the others are skipped. The lines are as large as they get; the first of each kind
    is encoded, the others are a blank of its length: encoding 60 MB of numbers would take a minute."""
    encoded: dict[int, int] = {}
    encode = record.encode

    def length_of_line(reading):
        kind = len(reading.tables)
        if kind not in encoded:
            encoded[kind] = len(encode(reading))
        return "x" * encoded[kind]

    monkeypatch.setattr(record, "encode", length_of_line)
    monkeypatch.setattr(record, "_fetch", lambda pending: (dict.fromkeys(pending.numbers, 1.0), {
        key: (rows, cells.reshape(-1).tolist()) for key, (rows, cells) in pending.vectors.items()
    } if len(encoded) < 2 else {key: ((), []) for key in pending.vectors}))  # fmt: skip
    schedule = Schedule(every=every, detail=detail)
    recorder = Recorder(tmp_path / "run", {}, schedule)
    update, lines, grown = 0, 0, []
    tracemalloc.start()
    while update < TEN_MILLION:
        first = update % per_rollout == 0
        if schedule.due(update, first):
            big_line(recorder, schedule.due_detail(update))
            schedule.took(update, first)
            recorder.flush(update, update)
            lines += 1
            if lines % 100 == 0:
                grown.append(tracemalloc.get_traced_memory()[0])
        update = min(schedule._next, max(schedule._next_first, update + 1) // per_rollout * per_rollout + per_rollout)
    tracemalloc.stop()
    recorder.close()
    size = sum(file.stat().st_size for file in (tmp_path / "run").rglob("*"))
    assert max(encoded.values()) > 15_000
    assert size < 64_000_000, f"{size / 1e6:.1f} MB in {lines} lines"
    assert lines > 1000, "and it is still worth reading"
    assert grown[-1] - grown[1] < 200_000, "the recorder's memory is flat"


def test_memory_is_flat_over_a_real_loop(tmp_path):
    net = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-4)
    x = torch.randn(8, 4)
    env = gym.make("CartPole-v1")
    env.reset(seed=0)

    def learn(updates):
        for k in range(updates):
            if k % 8 == 0:
                if env.step(k // 8 % 2)[2]:
                    env.reset()
                dbg.rollout(reward=x[:, 0], value=x[:, 1], terminated=x[:, 2] > 1)
            out = net(x)
            loss = out.square().mean()
            dbg.metric("mine", k)
            dbg.update(loss=loss, value=out[:, 0], target=x[:, 0], advantage=x[:, 0])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    with rldebug.watch(policy=net, critic=net, optimizer=optimizer, env=env, folder=tmp_path, quiet=True) as dbg:
        learn(6000)
        dbg.report()  # what rules import, they import once
        resident = read_device().resident
        learn(3000)
        tracemalloc.start()
        learn(300)
        gc.collect()  # what waits to be collected is not kept, and how much of it there is depends on the tests before
        before = tracemalloc.get_traced_memory()[0]
        learn(1200)
        gc.collect()
        after = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        grown = read_device().resident - resident
    assert not dbg.broken, dbg.broken
    assert after - before < 30_000, "bytes of Python objects in 1200 updates"
    assert grown < 30e6
    assert dbg.age == 10_500


# ── layers by themselves ────────────────────────────────────────────────────────────────────────────────────────────


def learn_by_steps(net, optimizers, updates, after=lambda: None):
    """Optimizers that step one after the other, and no call of rldebug."""
    for _ in range(updates):
        for each in optimizers:
            loss = net(torch.randn(32, 4)).square().mean()
            each.zero_grad()
            loss.backward()
            each.step()
        after()


def of_layers(reading):
    return {name for name in reading.histograms if name.count("/") == 2}


def test_each_parameter_and_each_layer_has_a_histogram_in_some_readings(tmp_path):
    net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    with rldebug.watch(policy=net, optimizer=optimizer, folder=tmp_path, quiet=True, every=1) as dbg:
        for _ in range(40):
            loss = net(torch.randn(32, 4)).square().mean()
            dbg.update(loss=loss)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    assert not dbg.broken
    readings = read_run(dbg.path).readings
    expected = {f"histogram/{what}/{name}" for what in ("weight", "gradient") for name, _ in named(net)}
    expected |= {f"histogram/activation/policy.{i}" for i in range(3)}
    assert [each.update for each in readings if of_layers(each)] == [0, 4, 8, 12, 16, 20, 24, 28, 32, 36]
    assert all(of_layers(each) == expected for each in readings if of_layers(each))
    (first,) = [each for each in readings if each.update == 0]
    assert len(first.histograms["histogram/weight/policy.0.bias"]) == 34
    assert sum(first.histograms["histogram/weight/policy.0.bias"][2:]) == 8
    assert sum(first.histograms["histogram/activation/policy.1"][2:]) == 32 * 8


def named(net):
    return [(f"policy.{name}", each) for name, each in net.named_parameters()]


def test_with_several_optimizers_each_histogram_says_whose_it_is(tmp_path):
    net = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))
    one, two = (torch.optim.SGD(each.parameters(), lr=1e-3) for each in net)
    with rldebug.watch(policy=net, optimizer={"one": one, "two": two}, folder=tmp_path, quiet=True) as dbg:
        learn_by_steps(net, (one, two), 12)
    assert not dbg.broken
    seen = [of_layers(each) for each in read_run(dbg.path).readings if of_layers(each)]
    assert len(seen) == 3
    for each in seen:
        assert {"histogram/weight/policy.0.weight@one", "histogram/gradient/policy.1.bias@two"} <= each
        assert not [name for name in each if name.startswith("histogram/weight/policy.1") and name.endswith("@one")]
    assert "histogram/activation/policy.0" in seen[-1]


def test_layers_are_seen_where_steps_are_all_there_is(tmp_path):
    """A line is closed when the next step begins; hooks that were attached only then would miss its forward pass."""
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
    with rldebug.watch(policy=net, optimizer=optimizer, folder=tmp_path, quiet=True) as dbg:
        learn_by_steps(net, [optimizer], 70)
    seen = [each.update for each in read_run(dbg.path).readings if "layers" in each.tables]
    assert seen[-3:] == [16, 32, 64]


def test_while_a_trap_is_set_layers_are_not_looked_at_more_often(tmp_path):
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
    counted = []
    metric = catalogue.metric_named("histogram/weight/…")
    compute = metric.compute
    object.__setattr__(metric, "compute", lambda step: counted.append(1) or compute(step))
    try:
        with rldebug.watch(
            policy=net, optimizer=optimizer, folder=tmp_path, quiet=True, traps={"nonfinite-gradient": "raise"}
        ) as dbg:
            learn_by_steps(net, [optimizer], 200)
    finally:
        object.__setattr__(metric, "compute", compute)
    assert not dbg.broken
    kept = [each for each in read_run(dbg.path).readings if of_layers(each)]
    assert len(counted) == len(kept) >= 10


# ── kill -9 ─────────────────────────────────────────────────────────────────────────────────────────────────────────

LOOP = """
import sys, time
import torch
import rldebug
net = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
dbg = rldebug.watch(policy=net, optimizer=optimizer, folder=sys.argv[1], quiet=True, every=1)
for k in range(10**9):
    loss = net(torch.randn(8, 4)).square().mean()
    dbg.update(loss={"marker": torch.tensor(float(k)), "total": loss})
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(k, time.time(), flush=True)
    time.sleep(0.01 if k < 60 else 0.4)
"""


def script(tmp_path: Path, text: str) -> list[str]:
    file = tmp_path / "train.py"
    file.write_text(textwrap.dedent(text))
    return [sys.executable, str(file), str(tmp_path / "runs")]


def test_kill_9_loses_at_most_the_last_second(tmp_path):
    process = subprocess.Popen(script(tmp_path, LOOP), stdout=subprocess.PIPE, text=True)
    seen = {}
    for line in process.stdout:
        k, when = line.split()
        seen[int(k)] = float(when)
        if len(seen) == 66:  # the last ones are slow: a buffer that fills only now and then would hold seconds of them
            break
    process.kill()
    killed = time.time()
    rest, _ = process.communicate()
    seen.update(
        {int(k): float(when) for k, when in (each.split() for each in rest.splitlines() if each.count(" ") == 1)}
    )
    assert process.returncode == -signal.SIGKILL
    run = read_run(tmp_path / "runs" / "run")
    recorded = {each.update for each in run.readings}
    missing = [k for k, when in seen.items() if when < killed - 1.0 and k not in recorded]
    assert not missing, f"updates {missing} were done more than a second before the kill"
    assert len(recorded) >= len(seen) - 3
    assert all(each.numbers["loss/marker"] == each.update for each in run.readings)
    assert run.meta["state"] == "running"


def test_a_line_is_with_the_kernel_once_it_is_written(tmp_path):
    with rldebug.watch(folder=tmp_path, quiet=True) as dbg:
        for k in range(20):
            dbg.update(loss=float(k))
            assert len(read_run(dbg.path).readings) == k + 1


def test_a_line_cut_off_in_writing_is_named(tmp_path):
    with rldebug.watch(folder=tmp_path, quiet=True) as dbg:
        for _ in range(5):
            dbg.update(loss=1.0)
    file = dbg.path / "readings.jsonl"
    whole = file.read_bytes()
    for cut in (1, 10, 40):
        file.write_bytes(whole[:-cut])
        run = read_run(dbg.path)
        if cut == 1:
            assert len(run.readings) == 5, "only the newline is missing"
        else:
            assert len(run.readings) == 4
            assert run.problems == ("readings.jsonl line 5 was left out: the last line was cut off in writing",)


# ── never the cause of a crash ──────────────────────────────────────────────────────────────────────────────────────


def train(tmp_path, updates=12, **more):
    """A loop that must come to its end, whatever happens inside rldebug. Returns the closed watch and its warnings."""
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        folder = more.pop("folder", tmp_path)
        with rldebug.watch(
            policy=net, optimizer=optimizer, folder=folder, quiet=True, every=1, detail=1, **more
        ) as dbg:
            for k in range(updates):
                dbg.rollout(reward=torch.randn(8), terminated=torch.zeros(8))
                out = net(torch.randn(8, 4))
                loss = out.square().mean()
                dbg.update(loss={"marker": torch.tensor(float(k)), "total": loss}, value=out[:, 0], target=out[:, 1])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            assert dbg.age == updates
    return dbg, [each for each in seen if issubclass(each.category, RuntimeWarning)]


@contextlib.contextmanager
def broken_metric(name):
    """A metric of the catalogue that raises; the catalogue is put back afterwards."""
    metric = catalogue.metric_named(name)
    compute = metric.compute

    def fail(evidence):
        raise ZeroDivisionError("inside a metric")

    object.__setattr__(metric, "compute", fail)
    try:
        yield
    finally:
        object.__setattr__(metric, "compute", compute)


@pytest.mark.parametrize(
    "name", ["value/mean", "grad/norm", "reward/mean", "layers", "pace/updates", "histogram/value"]
)
def test_a_metric_that_raises_is_switched_off_and_listed(name, tmp_path):
    with broken_metric(name):
        dbg, warned = train(tmp_path)
        report = dbg.close()
    assert not warned
    assert list(dbg.broken) == [name]
    assert "inside a metric" in dbg.broken[name]
    assert name in report.broken
    run = read_run(dbg.path)
    assert len(run["loss/marker"]) == 12
    assert name not in run
    assert name in run.meta["broken"]


def test_a_derived_metric_that_raises_is_listed(tmp_path):
    with broken_metric("episode/return_rise"):
        report = train(tmp_path)[0].close()
    assert "episode/return_rise" in report.broken


@pytest.mark.parametrize("hook", ["_wants_step", "_saw_step", "_saw_any_step"])
def test_an_optimizer_hook_that_raises_is_switched_off_and_listed(hook, tmp_path, monkeypatch):
    def fail(*args, **kwargs):
        raise KeyError("inside a hook")

    monkeypatch.setattr(Collector, hook, fail)
    dbg, warned = train(tmp_path)
    assert not warned
    assert list(dbg.broken) == ["optimizer hook optimizer"]
    assert "inside a hook" in dbg.close().broken["optimizer hook optimizer"]
    assert len(read_run(dbg.path)["loss/marker"]) == 12


def test_a_gradient_hook_that_raises_does_not_reach_the_backward_pass(tmp_path, monkeypatch):
    from rldebug.capture import optimizers

    monkeypatch.setattr(
        optimizers._Zeroing, "grad", property(lambda self: 1 / 0, lambda self, value: None), raising=False
    )
    dbg, warned = train(tmp_path)
    assert not warned
    assert "gradient hook" in dbg.broken
    assert len(read_run(dbg.path)["grad/norm"]) == 12


@pytest.mark.parametrize("part", ["_collect_update", "_note_structure", "_measure_activations"])
def test_collecting_that_raises_still_counts_updates(part, tmp_path, monkeypatch):
    def fail(*args, **kwargs):
        raise KeyError("inside collecting")

    monkeypatch.setattr(Collector, part, fail)
    dbg, warned = train(tmp_path)
    assert not warned
    assert "inside collecting" in dbg.broken["watch.update"]
    assert read_run(dbg.path).meta["updates"] == 12


def test_an_encoder_that_raises_stops_the_recording_with_one_warning(tmp_path, monkeypatch):
    calls = []

    def fail(reading):
        calls.append(reading.update)
        if reading.update >= 3:
            raise TypeError("inside the encoder")
        return "{}"

    monkeypatch.setattr(record, "encode", fail)
    dbg, warned = train(tmp_path)
    assert len(warned) == 1
    assert "inside the encoder" in str(warned[0].message)
    assert "training goes on" in str(warned[0].message)
    assert calls == [0, 1, 2, 3]
    assert list(dbg.broken) == ["recorder"]
    assert "inside the encoder" in dbg.close().broken["recorder"]


def test_a_folder_that_cannot_be_written(tmp_path):
    file = tmp_path / "a-file"
    file.write_text("not a folder")
    dbg, warned = train(tmp_path, folder=file / "runs")
    assert len(warned) == 1
    assert str(file) in str(warned[0].message)
    report = dbg.close()
    assert list(report.broken) == ["recorder"]
    assert report.problems
    assert not report.findings


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder(tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir(mode=0o500)
    assert len(train(tmp_path, folder=folder)[1]) == 1


class FullDisk:
    """A file on a disk that is full after so many lines."""

    def __init__(self, file, lines):
        self.file, self.lines = file, lines

    def write(self, text):
        self.lines -= 1
        if self.lines < 0:
            self.file.write(text[: len(text) // 2])
            raise OSError(errno.ENOSPC, "No space left on device")
        return self.file.write(text)

    def __getattr__(self, name):
        return getattr(self.file, name)


@pytest.mark.parametrize("when", ["write", "flush", "close"])
def test_a_full_disk_stops_the_recording_with_one_warning(when, tmp_path, monkeypatch):
    original = Path.open

    def fill(self, *args, **kwargs):
        file = original(self, *args, **kwargs)
        if self.name != "readings.jsonl" or args[:1] != ("a",):
            return file
        full = FullDisk(file, 5 if when == "write" else 10**9)
        if when != "write":

            def fail():
                raise OSError(errno.ENOSPC, "No space left on device")

            setattr(full, when, fail)
        return full

    monkeypatch.setattr(Path, "open", fill)
    dbg, warned = train(tmp_path)
    report = dbg.close()
    assert len(warned) == 1
    assert "No space left on device" in str(warned[0].message)
    assert list(report.broken) == ["recorder"]
    run = read_run(dbg.path)
    assert len(run.readings) == {"write": 5, "flush": 1, "close": 12}[when]
    if when == "write":
        assert "line 6 was left out: the last line was cut off" in run.problems[0]
        assert report.problems == run.problems


def test_a_full_disk_at_the_end(tmp_path, monkeypatch):
    write_text = Path.write_text

    def full(self, *args, **kwargs):
        if (tmp_path / "full").exists():
            raise OSError(errno.ENOSPC, "No space left on device")
        return write_text(self, *args, **kwargs)

    monkeypatch.setattr(Path, "write_text", full)
    dbg = rldebug.watch(folder=tmp_path, quiet=True)
    dbg.update(loss=1.0)
    (tmp_path / "full").touch()
    with pytest.warns(RuntimeWarning, match="No space left"):
        dbg.close()
    assert len(read_run(dbg.path).readings) == 1
    assert read_run(dbg.path).meta["state"] == "running"


def test_a_folder_taken_away_meanwhile(tmp_path):
    import shutil

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        with rldebug.watch(folder=tmp_path, quiet=True) as dbg:
            dbg.update(loss=1.0)
            shutil.rmtree(dbg.path)
            dbg.update(loss=2.0)
            assert dbg.report().problems
    assert dbg.close().broken


def test_a_configuration_that_asks_for_what_does_not_exist(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[tool.rldebug]\nselect = ["no-such-rule"]\n')
    with pytest.raises(ConfigError, match="no-such-rule"):  # before the training, not after it
        rldebug.watch(folder=tmp_path, quiet=True)


def test_a_report_that_cannot_be_printed(tmp_path, monkeypatch):
    monkeypatch.setattr("rldebug.render.terminal.print_report", lambda *a, **k: 1 / 0)
    with rldebug.watch(folder=tmp_path) as dbg:
        dbg.update(loss=1.0)
    assert "ZeroDivisionError" in dbg.broken["watch.printing the report"]


# ── how a run ends ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("error", "state", "said"),
    [
        (ValueError("the reward is a string"), "crashed", "ValueError: the reward is a string"),
        (KeyboardInterrupt(), "interrupted", "KeyboardInterrupt: "),
        (SystemExit(3), "crashed", "SystemExit: 3"),
        (SystemExit(0), "finished", None),
        (SystemExit(), "finished", None),
    ],
    ids=repr,
)
def test_an_exception_passes_unchanged_and_is_written_down(error, state, said, tmp_path):
    dbg = rldebug.watch(policy=nn.Linear(2, 1), folder=tmp_path, quiet=True)

    def loop():
        with dbg:
            for _ in range(20):
                dbg.update(loss=1.0)
            raise error

    with pytest.raises(type(error)) as caught:
        loop()
    assert caught.value is error
    assert error.__context__ is None
    run = read_run(dbg.path)
    assert run.meta["state"] == state
    assert run.meta["error"] == said
    assert run.meta["updates"] == len(run.readings) == 20
    assert dbg.close().checked


def test_what_was_collected_of_the_crashing_update_is_kept_under_its_number(tmp_path):
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    dbg = rldebug.watch(policy=net, optimizer=optimizer, folder=tmp_path, quiet=True)

    def loop():
        with dbg:
            for k in range(5):
                net(torch.ones(1, 2)).sum().backward()
                optimizer.step()
                if k == 4:
                    raise ZeroDivisionError
                dbg.update(loss=1.0)

    with pytest.raises(ZeroDivisionError):
        loop()
    run = read_run(dbg.path)
    assert run["grad/norm"].update.tolist() == [0, 1, 2, 3, 4]
    assert run["loss/total"].update.tolist() == [0, 1, 2, 3]


def run_script(tmp_path, text):
    return subprocess.run(script(tmp_path, text), capture_output=True, text=True, timeout=120, check=False)


ENDINGS = {
    "finished": ("", 0, "finished", None),
    "crashed": ("raise ValueError('mine')", 1, "crashed", "ValueError: mine"),
    "forked": (
        "import os\nif os.fork() == 0:\n    dbg.update(loss=9.0)\n    raise SystemExit\nos.wait()",
        0,
        "finished",
        None,
    ),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_watch_that_is_not_closed_is_closed_at_exit(ending, tmp_path):
    more, code, state, error = ENDINGS[ending]
    text = (
        "import sys, rldebug\ndbg = rldebug.watch(folder=sys.argv[1])\n"
        "for k in range(20):\n    dbg.update(loss=float(k))\n" + more
    )
    ended = run_script(tmp_path, text)
    assert ended.returncode == code, ended.stderr
    assert (error or "") in ended.stderr
    run = read_run(tmp_path / "runs" / "run")
    assert run.meta["state"] == state
    assert run.meta["error"] == error
    assert [each.update for each in run.readings] == list(range(20)), "a forked process writes nothing of its own"
    assert (ended.stdout + ended.stderr).count("rules ran") == 1, "the report is printed, once"


# ── run folders ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_run_never_overwrites_another(tmp_path):
    names = [new_run_folder(tmp_path, "cart pole/ü").name for _ in range(3)]
    assert names == ["cart-pole-ü", "cart-pole-ü-2", "cart-pole-ü-3"]
    assert new_run_folder(tmp_path, "..").name == "run"
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted([*names, "run"])


def test_runs_started_at_the_same_moment_get_folders_of_their_own(tmp_path, monkeypatch):
    """Another process makes the folder between our look and our making it."""
    mkdir = Path.mkdir
    raced = []

    def race(self, *args, **kwargs):
        if self.name == "sweep" and not raced:
            raced.append(self)
            mkdir(self)
        return mkdir(self, *args, **kwargs)

    monkeypatch.setattr(Path, "mkdir", race)
    with rldebug.watch(run="sweep", folder=tmp_path, quiet=True) as dbg:
        dbg.update(loss=1.0)
    assert dbg.path.name == "sweep-2"
    assert not dbg.broken


def test_each_rank_writes_its_own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("RANK", "3")
    assert new_run_folder(tmp_path, "run").name == "run-rank3"


def test_run_json_says_how_the_run_was_made(tmp_path):
    torch.manual_seed(42)
    with rldebug.watch(run="mine", folder=tmp_path, quiet=True, gamma=0.9) as dbg:
        meta = json.loads((dbg.path / "run.json").read_text())
        assert meta["state"] == "running"
    assert meta["name"] == "mine"
    assert meta["seed"] == 42
    assert meta["gamma"] == 0.9
    assert meta["pid"] == os.getpid()
    assert meta["versions"]["torch"] == torch.__version__
    assert meta["command"][0] == sys.executable
    assert not list(dbg.path.glob("*.part"))


def test_lines_are_json_whatever_the_numbers(tmp_path):
    with rldebug.watch(folder=tmp_path, quiet=True) as dbg:
        dbg.metric('odd "name" with % and ü', 1.5)
        dbg.metric("nan", float("nan"))
        dbg.metric("inf", float("-inf"))
        dbg.metric("tiny", 1.4e-45)
        dbg.metric("third", 1 / 3)
        dbg.update(loss=1.0)
    line = json.loads((dbg.path / "readings.jsonl").read_text())
    assert line["numbers"]["user/nan"] == "nan"
    run = read_run(dbg.path)
    assert run['user/odd "name" with % and ü'].last == 1.5
    assert run["user/inf"].last == float("-inf")
    assert np.float32(run["user/tiny"].last) == np.float32(1.4e-45)
    assert np.float32(run["user/third"].last) == np.float32(1 / 3)


def test_hooks_are_counted_once():
    """One pre-hook and one post-hook per optimizer, however many readings are taken."""
    net = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    dbg = rldebug.watch(policy=net, optimizer=optimizer, quiet=True)
    assert isinstance(dbg._collect.optimizers[0], OptimizerWatch)
    assert len(optimizer._optimizer_step_pre_hooks) == len(optimizer._optimizer_step_post_hooks) == 1
    dbg.close()
    assert not optimizer._optimizer_step_pre_hooks
