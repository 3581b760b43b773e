"""What the program asks of the machine: read off the system, and nothing is initialised for it."""

import cProfile
import multiprocessing
import os
import subprocess
import sys
import time
import tracemalloc

import pytest
import torch

from rldebug.capture import load as looked
from rldebug.capture.load import Load, running_profiler
from rldebug.evidence.timing import Host, Window

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="read from /proc")
BURN = "import time\nwhile time.process_time() < {}: pass\nprint('burnt', flush=True)\ninput()"


def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_a_look_fills_a_window():
    load = Load()
    burn(0.2)
    window = Window(began=0.0, seconds=1.0, **load.look())
    assert 0.2 <= window.cpu < 2.0
    assert window.resident > 1e6
    assert window.faults >= 0
    assert load.look()["cpu"] < window.cpu, "counted since the last look"


@linux
def test_children_are_timed_while_they_live_and_after():
    load = Load()
    before = load.children
    program = [sys.executable, "-c", BURN.format(0.3)]
    child = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    child.stdout.readline()
    alive = load.look()["children_cpu"]
    assert alive >= 0.25
    assert load.children == before + 1
    child.communicate(b"\n")
    ended = load.look()["children_cpu"]
    assert 0.0 <= ended < 0.25, "what was counted while it lived is not counted again"
    assert load.children == before
    assert load.facts()["workers"] == before + 1


@linux
def test_children_of_children_count():
    outer = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {BURN.format(0.2)!r}])"
    load = Load()
    before = load.children
    child = subprocess.Popen([sys.executable, "-c", outer], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    child.stdout.readline()
    assert load.look()["children_cpu"] >= 0.15
    assert load.children == before + 2
    child.communicate(b"\n")


@linux
def test_what_is_no_worker_is_not_counted():
    load = Load()
    before = load.children
    other = subprocess.Popen(["sleep", "60"])
    resources = multiprocessing.resource_tracker
    resources.ensure_running()
    context = multiprocessing.get_context("spawn")
    worker = context.Process(target=time.sleep, args=(60,))
    worker.start()
    try:
        load.look()
        assert load.children == before + 1
    finally:
        other.kill()
        worker.kill()
        other.wait()
        worker.join()


def test_without_a_gpu_nothing_is_touched():
    program = """
import sys, torch
known = "pynvml" in sys.modules  # torch itself looks whether there is one
from rldebug.capture.load import Load
from rldebug.capture.kernels import Kernels
from rldebug.capture.syncs import Syncs
from rldebug.capture import nvtx
load, kernels, syncs = Load(), Kernels(), Syncs()
for _ in range(3):
    syncs.begin(); kernels.begin(); nvtx.push("x")
    nvtx.pop(); kernels.end(); syncs.end()
    seen = load.look()
facts = load.facts()
assert not torch.cuda.is_initialized()
assert ("pynvml" in sys.modules) == known
assert "allocated" not in seen and facts["gpu"] == ""
assert syncs.updates == 0 and not syncs.found and not kernels.found
"""
    subprocess.run([sys.executable, "-c", program], check=True, env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})


def test_facts_fill_a_host(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    host = Host(**Load().facts())
    assert host.threads == torch.get_num_threads()
    assert 0 < host.cores <= (os.cpu_count() or 1)
    assert host.variables["OMP_NUM_THREADS"] == "3"
    assert host.late == ()
    assert (host.default_dtype, host.anomaly, host.workers) == ("float32", False, 0)


def test_variables_set_after_torch_are_late(monkeypatch):
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    load = Load()
    monkeypatch.setenv("MKL_NUM_THREADS", "1")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert load.facts()["late"] == ("OMP_NUM_THREADS", "MKL_NUM_THREADS")


def test_a_variable_is_not_late_for_what_is_imported_later(monkeypatch):
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    monkeypatch.delenv("NUMBA_NUM_THREADS", raising=False)
    load = Load()
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")
    assert load.facts()["late"] == ()


def test_anomaly_mode_is_remembered():
    load = Load()
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        load.notice()
    assert load.facts()["anomaly"]
    assert not Load().facts()["anomaly"]


def with_torch():
    with torch.autograd.profiler.profile():
        return running_profiler()


def with_cprofile():
    with cProfile.Profile():
        return running_profiler()


def with_hook():
    before = sys.getprofile()
    sys.setprofile(lambda *given: None)
    try:
        return running_profiler()
    finally:
        sys.setprofile(before)


def with_tracemalloc():
    tracemalloc.start()
    try:
        return running_profiler()
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("name", "program"),
    [
        ("torch.profiler", with_torch),
        ("cProfile", with_cprofile),
        ("sys.setprofile", with_hook),
        ("tracemalloc", with_tracemalloc),
    ],
)
def test_profilers_are_known(name, program):
    assert running_profiler() == ""
    assert program() == name
    assert running_profiler() == ""


def test_a_profiler_of_ours_is_not_the_programs(monkeypatch):
    monkeypatch.setattr(looked.Kernels, "looking", True)
    assert with_torch() == ""


def test_the_gpu_is_read_where_cuda_is_in_use(monkeypatch):
    from rldebug.rollout import Device

    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(looked, "read_device", lambda: Device(resident=1, allocated=5, utilisation=0.5))
    seen = Load().look()
    assert (seen["allocated"], seen["utilisation"], seen["fan"]) == (5, 0.5, None)
