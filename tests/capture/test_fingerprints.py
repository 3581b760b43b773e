import numpy as np
import torch

from rldebug.capture.fingerprints import fingerprint, flat, row_fingerprints


def test_casts_and_shapes_do_not_matter():
    row = np.array([0.1, -2.5, 1e-3, 7.0])
    assert fingerprint(row) == fingerprint(row.astype(np.float32)) == fingerprint(row.reshape(2, 2))
    assert fingerprint(np.array([0.0, 1.0])) == fingerprint(np.array([-0.0, 1.0]))
    assert fingerprint(np.array([1, 2])) == fingerprint(np.array([1.0, 2.0]))


def test_other_numbers_are_others():
    row = np.linspace(0, 1, 9)
    other = row.copy()
    other[4] += 1e-5
    assert fingerprint(row) != fingerprint(other)


def test_rows_of_a_batch_agree_with_observations():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(5, 3))
    assert row_fingerprints(rows) == [fingerprint(each) for each in rows]
    assert row_fingerprints(torch.tensor(rows, dtype=torch.float32).numpy()) == [fingerprint(each) for each in rows]
    frames = rng.integers(0, 256, (4, 6), dtype=np.uint8)
    assert row_fingerprints(frames) == [fingerprint(each) for each in frames]
    assert row_fingerprints(np.empty((0, 3))) == []


def test_observations_of_any_kind_are_one_array():
    assert flat(3).tolist() == 3
    assert flat({"a": np.ones(2), "b": 5}).tolist() == [1, 1, 5]
    assert flat((np.zeros(2), np.ones(1))).tolist() == [0, 0, 1]
    assert flat(torch.ones(2)).tolist() == [1, 1]
    assert flat("text") is None
    assert flat(np.array(["a"])) is None
    assert flat({}) is None
