"""What a rank calls together with others: written down before it waits; nothing of the program's is touched."""

import time

import pytest
import torch
import torch.distributed as dist

from rldebug.capture import collectives
from rldebug.capture.collectives import hangs
from rldebug.evidence.ranks import COLLECTIVE, last_collective
from tests.capture.fake import Listening, listening


@pytest.fixture
def alone(tmp_path, monkeypatch):
    """A group of one process: every collective comes back at once."""
    monkeypatch.setattr(Listening, "folder", tmp_path, raising=False)
    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/meet", rank=0, world_size=1)
    yield
    dist.destroy_process_group()


def pretend_two(monkeypatch):
    monkeypatch.setattr(dist, "get_world_size", lambda *group: 2)


def test_calls_are_counted_and_the_last_is_in_a_file(alone, tmp_path, monkeypatch):
    pretend_two(monkeypatch)
    with listening(collectives) as session:
        dist.all_reduce(torch.ones(5))
        dist.all_gather_object([None], {"a": 1})  # of tensors, inside: one call
        session.updates = 3
        dist.broadcast(torch.ones(7), src=0)
        last = last_collective(tmp_path)
    assert (last["calls"], last["what"], last["numel"], last["update"], last["waits"]) == (3, "broadcast", 7, 3, False)
    assert last["line"][0].endswith("test_collectives.py")
    rank = session.only("rank")
    assert rank["collectives"] == {"all_reduce": 1, "all_gather_object": 1, "broadcast": 1}
    assert rank["before_updates"] == {"all_reduce": 1, "all_gather_object": 1}
    assert (rank["rank"], rank["world"], rank["calls"]) == (0, 2, 3)


def test_one_that_does_not_come_back_waits(alone, tmp_path, monkeypatch):
    pretend_two(monkeypatch)
    with listening(collectives):
        with pytest.raises((RuntimeError, TypeError, ValueError)):
            dist.broadcast(torch.ones(7), src="nobody")
        assert last_collective(tmp_path)["waits"]
        assert not hangs(tmp_path)  # not for long enough
        now = time.time()
        monkeypatch.setattr(time, "time", lambda: now + 60)
        assert hangs(tmp_path)
        dist.barrier()
        assert not last_collective(tmp_path)["waits"]


def test_calls_of_a_part_of_the_ranks_are_not_compared(alone, tmp_path, monkeypatch):
    part = dist.new_group([0])
    pretend_two(monkeypatch)
    with listening(collectives) as session:
        dist.all_reduce(torch.ones(2), group=part)
        assert last_collective(tmp_path) is None
    assert session.only("rank")["collectives"] == {"all_reduce": 1}


def test_a_process_by_itself_leaves_no_file(alone, tmp_path):
    with listening(collectives) as session:
        dist.all_reduce(torch.ones(5))
    assert not (tmp_path / COLLECTIVE).exists()
    assert session.only("rank")["world"] == 1


def test_functions_are_put_back(alone):
    before = dist.all_reduce, dist.distributed_c10d.all_reduce, dist.init_process_group
    with listening(collectives):
        assert dist.all_reduce is not before[0]
        assert dist.all_reduce is dist.distributed_c10d.all_reduce
    assert (dist.all_reduce, dist.distributed_c10d.all_reduce, dist.init_process_group) == before


def test_a_file_that_is_damaged_tells_nothing(tmp_path):
    assert last_collective(tmp_path) is None
    (tmp_path / COLLECTIVE).write_bytes(b"!{cut")
    assert last_collective(tmp_path) is None
