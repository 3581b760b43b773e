"""What one process writes, another reads: whole records, in order, round and round."""

from __future__ import annotations

import multiprocessing

import numpy as np

from rldebug.capture.ring import Ring


def test_records_come_out_as_they_went_in(tmp_path):
    writer, reader = Ring(tmp_path / "ring", make=True), Ring(tmp_path / "ring")
    assert writer.write(b"one")
    assert writer.write(b"")
    assert writer.write(b"three")
    assert list(reader.read()) == [b"one", b"", b"three"]
    assert list(reader.read()) == []


def test_round_and_round(tmp_path):
    writer, reader = Ring(tmp_path / "ring", make=True, size=100), Ring(tmp_path / "ring")
    rng = np.random.default_rng(0)
    for _ in range(200):
        records = [rng.bytes(int(rng.integers(0, 40))) for _ in range(2)]
        assert all(writer.write(each) for each in records)
        assert list(reader.read()) == records


def test_what_does_not_fit_is_left_out_and_nothing_is_overwritten(tmp_path):
    writer, reader = Ring(tmp_path / "ring", make=True, size=64), Ring(tmp_path / "ring")
    taken = [writer.write(bytes([each]) * 16) for each in range(4)]
    assert taken == [True, True, True, False]
    assert [each[0] for each in reader.read()] == [0, 1, 2]
    assert writer.write(b"again")
    assert list(reader.read()) == [b"again"]


def _write(file, count):
    ring = Ring(file)
    for each in range(count):
        while not ring.write(each.to_bytes(4, "little") * (each % 50)):
            pass  # full, until the other has read


def test_between_processes_nothing_is_torn(tmp_path):
    ring = Ring(tmp_path / "ring", make=True, size=4096)
    writer = multiprocessing.get_context("spawn").Process(target=_write, args=(tmp_path / "ring", 20_000), daemon=True)
    writer.start()
    count = 0
    while count < 20_000:
        for record in ring.read():
            assert record == count.to_bytes(4, "little") * (count % 50)
            count += 1
        assert writer.is_alive() or count or writer.exitcode == 0
    writer.join()
