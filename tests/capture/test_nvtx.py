"""Ranges are told to NVTX only where CUDA is in use, and only those that we opened are closed."""

import pytest
import torch

from rldebug.capture import nvtx


@pytest.fixture
def told(monkeypatch):
    calls = []
    monkeypatch.setattr(torch.cuda.nvtx, "range_push", lambda name: calls.append(f"push {name}"))
    monkeypatch.setattr(torch.cuda.nvtx, "range_pop", lambda: calls.append("pop"))
    return calls


def use_cuda(monkeypatch, used):
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: used)


def test_ranges_are_told(told, monkeypatch):
    use_cuda(monkeypatch, True)
    nvtx.push("backward")
    nvtx.push("optimizer")
    nvtx.pop()
    nvtx.pop()
    assert told == ["push backward", "push optimizer", "pop", "pop"]


def test_nothing_is_called_without_cuda(told, monkeypatch):
    use_cuda(monkeypatch, False)
    nvtx.push("simulator")
    nvtx.pop()
    assert told == []


def test_a_range_that_was_not_told_is_not_closed(told, monkeypatch):
    """CUDA is initialised inside the first step."""
    use_cuda(monkeypatch, False)
    nvtx.push("simulator")
    use_cuda(monkeypatch, True)
    nvtx.push("acting")
    nvtx.pop()
    nvtx.pop()
    nvtx.pop()
    assert told == ["push acting", "pop"]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_ranges_nest_as_nvtx_counts_them():
    torch.zeros(1, device="cuda")
    before = torch.cuda.nvtx.range_push("the program's own")
    nvtx.push("backward")
    nvtx.pop()
    nvtx.pop()
    assert torch.cuda.nvtx.range_pop() == before
