"""Lines that wait are found by torch's own warnings, which nobody else sees; Python's machinery stays as it is."""

from __future__ import annotations

import functools
import gc
import sys
import threading
import warnings
from collections import namedtuple

import pytest
import torch
from torch import nn
from torch.distributions import Categorical

from rldebug.capture.kernels import Kernels
from rldebug.capture.kernels import _summary as summary
from rldebug.capture.load import Load
from rldebug.capture.syncs import Syncs

exact = pytest.mark.skipif(sys.version_info < (3, 11), reason="Python says no columns")
gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
Span = namedtuple("Span", ("start", "end"))
TEXT = "called a synchronizing CUDA operation (Triggered internally at here.cpp:150.)"


def line_of(marker):
    with open(__file__, encoding="utf-8") as file:
        (line,) = [number for number, text in enumerate(file, 1) if text.rstrip().endswith(f"  # {marker}")]
    return line


# ── with torch's warnings, and no GPU ───────────────────────────────────────────────────────────────────────────────


class Waiting:
    """A tensor whose operations warn as torch does: from C, at the line that calls."""

    item = functools.partial(warnings.warn, TEXT)


@pytest.fixture
def mode(monkeypatch):
    """CUDA is in use; the mode that the program has."""
    held = [0]

    def change(to):
        held[0] = {"default": 0, "warn": 1, "error": 2}[to]
        if held[0]:
            warnings.warn("Synchronization debug mode is a prototype feature", stacklevel=2)

    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
    monkeypatch.setattr(torch.cuda, "get_sync_debug_mode", lambda: held[0])
    monkeypatch.setattr(torch.cuda, "set_sync_debug_mode", change)
    return held


def machinery():
    return warnings._showwarnmsg, warnings._filters_mutated, warnings.filters, list(warnings.filters)


def looked_at(program, updates=1):
    before = machinery()
    syncs = Syncs()
    for _ in range(updates):
        syncs.begin()
        program()
        syncs.end()
    now = machinery()
    assert now[:2] == before[:2]
    assert now[2] is before[2]
    assert now[3] == before[3]
    return syncs


@exact
def test_each_line_is_found_and_counted(mode):
    loss = Waiting()

    def update():
        for _ in range(3):
            loss.item()  # in a loop
        loss.item()  # once

    syncs = looked_at(update, updates=2)
    assert (syncs.updates, mode[0]) == (2, 0)
    seen = [(each.spot.line, each.times, each.per_update, each.what) for each in syncs.found]
    assert seen == [(line_of("in a loop"), 6, 3.0, ".item"), (line_of("once"), 2, 1.0, ".item")]
    assert syncs.found[0].spot.function.endswith("update")


def test_the_users_line_is_named_where_a_library_waits(mode):
    wait = functools.partial(warnings.warn, TEXT, UserWarning)  # to be given the 1, as a depth of the stack
    syncs = looked_at(lambda: torch.utils._pytree.tree_map(wait, [1]))  # in a library
    (found,) = syncs.found
    assert found.spot.line == line_of("in a library")


def test_what_the_program_does_with_warnings_stays(mode):
    loss = Waiting()

    def update():
        with warnings.catch_warnings(record=True) as kept:
            warnings.simplefilter("always")
            loss.item()
            warnings.warn("of its own", stacklevel=1)
        assert [str(each.message) for each in kept] == ["of its own"]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            loss.item()
            with pytest.raises(UserWarning, match="of its own"):
                warnings.warn("of its own", stacklevel=1)
        with warnings.catch_warnings():
            warnings.resetwarnings()
            loss.item()

    assert sum(each.times for each in looked_at(update).found) == 3


def test_a_block_that_is_left_or_entered_in_between(mode):
    loss, syncs = Waiting(), Syncs()
    before = list(warnings.filters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        syncs.begin()
        loss.item()
    loss.item()  # an error again, for all that Python knows
    block = warnings.catch_warnings()
    block.__enter__()
    syncs.end()
    assert not any(each[1] is not None and "synchronizing" in str(each[1]) for each in warnings.filters)
    block.__exit__(None, None, None)
    assert list(warnings.filters) == before
    assert sum(each.times for each in syncs.found) == 2


def test_what_python_shows_once_is_shown_once(mode):
    """To tell Python that filters have changed would make it forget what it has shown."""
    loss = Waiting()
    with warnings.catch_warnings(record=True) as kept:
        warnings.simplefilter("default")
        syncs = Syncs()
        for _ in range(3):
            syncs.begin()
            loss.item()
            syncs.end()
            warnings.warn("of its own", stacklevel=1)
    assert [str(each.message) for each in kept] == ["of its own"]
    assert sum(each.times for each in syncs.found) == 3


def test_a_program_that_looks_itself_is_left_alone(mode):
    loss = Waiting()
    mode[0] = 1
    syncs = Syncs()
    syncs.begin()
    with pytest.warns(UserWarning, match="synchronizing"):
        loss.item()
    syncs.end()
    assert (mode[0], syncs.updates, syncs.found) == (1, 0, ())


def test_a_mode_that_the_program_sets_meanwhile_stays(mode):
    def update():
        mode[0] = 2

    looked_at(update)
    assert mode[0] == 2


def test_waits_of_other_threads_are_taken_and_not_counted(mode):
    def update():
        other = threading.Thread(target=Waiting().item)
        other.start()
        other.join()

    assert looked_at(update).found == ()


PROFILE = torch.autograd.profiler.profile


class OnTheHost(PROFILE):
    def __init__(self, **given):
        super().__init__()


@pytest.fixture
def kernels(monkeypatch):
    """CUDA is in use, and the next window is under a profiler, which needs no GPU."""
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(torch.autograd.profiler, "profile", OnTheHost)
    gc.collect()  # of profilers that other tests have used
    made = Kernels()
    for _ in range(3):
        made.begin()
        made.end()
    assert not made.done
    return made


def starting():
    return torch.autograd.profiler._prepare_profiler, torch.autograd.profiler._enable_profiler


def test_the_profiler_gives_way_to_the_programs_own(kernels):
    """The program starts a profiler in the update that we look at."""
    before = starting()
    kernels.begin()
    assert Kernels.looking
    with PROFILE() as profile:
        torch.ones(2) + 1
    kernels.end()
    assert any("add" in each.name for each in profile.function_events)
    assert (kernels.done, kernels.found, kernels.broken, Kernels.looking) == (True, {}, "", False)
    assert starting() == before


def test_a_profiler_of_the_programs_that_waits_for_its_turn_is_left_alone(kernels):
    waiting = torch.profiler.profile()
    kernels.begin()
    assert not Kernels.looking
    assert kernels.done
    del waiting


def test_an_update_that_launches_nothing_has_no_kernels(kernels):
    before = starting()
    kernels.begin()
    assert Kernels.looking
    torch.ones(2) + 1
    kernels.end()
    assert (kernels.done, kernels.found, kernels.broken, Kernels.looking) == (True, {}, "", False)
    assert starting() == before


def test_kernels_that_overlap_count_once():
    cuda, host = torch._C._autograd.DeviceType.CUDA, torch._C._autograd.DeviceType.CPU
    events = [
        ("cudaLaunchKernel", host, Span(0, 5)),
        ("cuLaunchKernelEx", host, Span(5, 9)),
        ("cudaMemcpyAsync", host, Span(9, 10)),
        ("gemm", cuda, Span(10, 30)),
        ("add", cuda, Span(20, 40)),
        ("Memcpy DtoH", cuda, Span(50, 60)),
    ]
    found = summary(events, 0.001)
    assert found == {"launches": 2, "kernel_seconds": pytest.approx(40e-6), "seconds": 0.001}


# ── on a GPU ────────────────────────────────────────────────────────────────────────────────────────────────────────


def learn(updates=30, syncs=None, kernels=None):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 4)).cuda()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    obs = torch.randn(256, 8, device="cuda")
    action = torch.randint(0, 4, (256,), device="cuda")
    advantage = torch.randn(256, device="cuda")
    told = 0.0
    for number in range(updates):
        for each, at in ((syncs, (5, 15)), (kernels, (8, 10, 12, 20))):
            if each is not None and number in at:
                each.begin()
        dist = Categorical(logits=net(obs), validate_args=False)
        logp = dist.log_prob(action)
        losses = -(logp * advantage)
        for row in range(3):
            told += losses[row].item()  # waits in a loop
        kept = logp.detach().cpu()  # waits for a copy
        good = torch.nonzero(advantage > 0)  # waits for a count
        if losses.mean() > 100:  # waits for a condition
            told += 1
        best = losses[advantage > 0]  # waits for a mask
        loss = losses.mean() + 0 * best.sum()
        optimizer.zero_grad()
        loss.backward()  # waits for the mask again
        optimizer.step()
        told += len(good) + len(kept)
        for each, at in ((syncs, (5, 15)), (kernels, (8, 10, 12, 20))):
            if each is not None and number in at:
                each.end()
    return [each.detach().cpu() for each in net.parameters()], told


@gpu
def test_waits_are_found_on_a_gpu_and_nothing_else_changes():
    syncs, kernels = Syncs(), Kernels()
    bare, expected = learn()  # first: torch imports more of itself as it goes, and has filters of its own
    before = machinery()
    watched, told = learn(syncs=syncs, kernels=kernels)
    assert machinery() == before
    assert torch.cuda.get_sync_debug_mode() == 0
    assert told == expected
    assert all(torch.equal(one, other) for one, other in zip(watched, bare, strict=True))
    seen = {each.spot.line: each for each in syncs.found}
    wanted = {
        "waits in a loop": (6, ".item"),
        "waits for a copy": (2, ".cpu"),
        "waits for a count": (2, "torch.nonzero"),
        "waits for a condition": (2, "bool"),
        "waits for a mask": (2, "[…]"),
        "waits for the mask again": (2, ".backward"),
    }
    assert {line: each.times for line, each in seen.items()} == {line_of(at): n for at, (n, _) in wanted.items()}
    if sys.version_info >= (3, 11):
        assert {line: each.what for line, each in seen.items()} == {
            line_of(at): what for at, (_, what) in wanted.items()
        }


class WaitsInBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        gradient.sum().item()  # waits in a thread of torch's own
        return gradient * 2


@gpu
def test_waits_within_backward_are_found():
    weight = torch.ones(3, device="cuda", requires_grad=True)
    syncs = Syncs()
    syncs.begin()
    WaitsInBackward.apply(weight).sum().backward()
    syncs.end()
    assert [each.spot.line for each in syncs.found] == [line_of("waits in a thread of torch's own")]


@gpu
def test_nothing_is_looked_at_while_a_graph_is_captured():
    x, graph = torch.ones(3, device="cuda"), torch.cuda.CUDAGraph()
    syncs, kernels = Syncs(), Kernels()
    with torch.cuda.graph(graph):
        syncs.begin()
        kernels.begin()
        y = x * 2
        kernels.end()
        syncs.end()
    graph.replay()
    assert y.sum().item() == 6
    assert (syncs.updates, kernels.found) == (0, {})


@gpu
def test_kernels_of_one_update_are_counted():
    kernels = Kernels()
    learn(kernels=kernels)
    assert kernels.done
    assert not kernels.broken
    assert 30 < kernels.found["launches"] < 1000
    assert 0 < kernels.found["kernel_seconds"] < kernels.found["seconds"] < 1.0
    assert not Kernels.looking


@gpu
def test_the_gpu_is_looked_at():
    torch.zeros(1 << 20, device="cuda")
    load = Load()
    seen = load.look()
    assert seen["allocated"] >= 4 << 20
    assert seen["reserved"] >= seen["allocated"]
    assert load.facts()["gpu"] == torch.cuda.get_device_name()
