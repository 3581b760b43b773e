"""Batches that an agent normalises when it learns, by running statistics."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from rldebug.capture.env_log import EnvLog
from rldebug.capture.moving import Moving
from tests.programs.data import WIDTH, Drift, net, tensor
from tests.watched import watched


def log_of(count: int, seed: int = 0) -> tuple[EnvLog, np.ndarray]:
    rng = np.random.default_rng(seed)
    return logged(rng.normal(size=(count, 4)) * [1.0, 30.0, 0.01, 2.0] + [5.0, 0.0, 1.0, -3.0])


def logged(seen: np.ndarray) -> tuple[EnvLog, np.ndarray]:
    log, env = EnvLog(lambda: (0, 0), lambda env: None), object()
    log.reset(env, seen[0], None, 1)
    for each in seen[1:]:
        log.step(env, 0, each, 0.0, False, False, None)
    return log, seen


def normalised(rows: np.ndarray, seen: np.ndarray) -> np.ndarray:
    return ((rows - seen.mean(axis=0)) / (seen.std(axis=0) + 1e-3)).astype(np.float32)


def test_rows_are_found_by_statistics_of_any_moment() -> None:
    log, seen = log_of(400)
    moving, rng = Moving(log), np.random.default_rng(1)
    for until in (120, 200, 400):
        places = rng.integers(until, size=64)
        found = moving.find(normalised(seen[places], seen[:until]))
        assert found is not None
        assert (found == places).mean() > 0.95


def test_rows_that_are_cut_off_are_left_out() -> None:
    log, seen = log_of(300)
    places = np.random.default_rng(1).integers(300, size=64)
    found = Moving(log).find(normalised(seen[places], seen).clip(-1.5, 1.5))
    assert found is not None
    assert (found[found >= 0] == places[found >= 0]).all()
    assert (found >= 0).mean() > 0.5


def test_the_greatest_number_that_occurs_is_not_taken_for_any_other() -> None:
    rng = np.random.default_rng(3)
    stock = rng.choice([0.0, 20.0, 40.0, 60.0], p=[0.1, 0.1, 0.3, 0.5], size=600)  # a full store is no limit of a clip
    phase = rng.integers(12, size=600)
    seen = np.stack([stock, rng.integers(3, size=600) * 4.0, np.sin(phase), np.cos(phase)], axis=1)
    log, seen = logged(seen.astype(np.float32))
    places = rng.integers(600, size=64)
    found = Moving(log).find(normalised(seen[places], seen[:500]))
    assert found is not None
    assert (seen[found[found >= 0]] == seen[places[found >= 0]]).all()
    assert (found >= 0).mean() > 0.7


def test_of_observations_that_are_the_same_the_newest_is_meant_which_is_known_to_be_one_of_several() -> None:
    log, seen = log_of(200)
    log, seen = logged(np.concatenate([seen, seen]))
    found = Moving(log).find(normalised(seen[:64], seen))
    assert found is not None
    assert (found == np.arange(64) + 200).all()


def test_observations_that_differ_by_a_rounding_are_not_told_apart() -> None:
    log, seen = log_of(200)
    twins = seen.copy()
    twins[:, 0] = np.nextafter(twins[:, 0].astype(np.float32), np.float32(np.inf))
    log, seen = logged(np.concatenate([seen, twins[:100]]))
    found = Moving(log).find(normalised(seen[80:144], seen))
    assert found is not None
    assert (found[:20] == -1).all()
    assert (found[20:] == np.arange(100, 144)).all()


def test_rows_of_nothing_that_was_observed_are_not_taken_for_others() -> None:
    log, seen = log_of(300)
    rng = np.random.default_rng(2)
    assert Moving(log).find(rng.normal(size=(64, 4)).astype(np.float32)) is None
    mixed = rng.permuted(normalised(seen[:64], seen), axis=0)  # elements of different observations
    assert Moving(log).find(mixed) is None
    assert Moving(log).find(normalised(seen[:64], seen) ** 3) is None


def learning(steps: int = 120) -> None:
    """What is stored is as it was observed; statistics move at each step."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    env, value = Drift(), net(1)
    optimizer = torch.optim.Adam(value.parameters(), 1e-3)
    seen: list[Any] = [rng.normal(size=WIDTH) for _ in range(20)]

    def shown(rows: Any) -> torch.Tensor:
        return tensor((np.asarray(rows) - np.mean(seen, axis=0)) / (np.std(seen, axis=0) + 1e-2))

    obs, _ = env.reset()
    stored: list[tuple[Any, float]] = []
    for step in range(1, steps):
        seen.append(obs)
        with torch.no_grad():
            value(shown(obs)[None])
        after, reward, terminated, truncated, _ = env.step(0)
        stored.append((obs, reward))
        obs = env.reset()[0] if terminated or truncated else after
        if step > 40:
            batch = [stored[each] for each in rng.integers(len(stored), size=24)]
            loss = (value(shown([each for each, _ in batch]))[:, 0] - tensor([each for _, each in batch])).square()
            optimizer.zero_grad()
            loss.mean().backward()
            optimizer.step()


def test_a_batch_that_is_normalised_when_it_is_learned_from() -> None:
    _, script = watched(learning)
    learned = [each for _, each in script.events("term") if each["kind"] == "regression"]
    assert learned
    assert np.mean([(each.arrays["rows"] >= 0).mean() for each in learned]) > 0.9
