"""Rows of a network's input, traced to the observations that they are."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from tests.programs.data import WIDTH, Drift, net, tensor
from tests.watched import watched


def normalising(steps: int = 90) -> None:
    """What follows a step is valued with the statistics of before it; then they move on, and it is acted on."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    env, value = Drift(), net(1)
    optimizer = torch.optim.Adam(value.parameters(), 1e-3)
    seen: list[np.ndarray] = [rng.normal(size=WIDTH) for _ in range(20)]

    def normalised(obs: np.ndarray) -> np.ndarray:
        return (obs - np.mean(seen, axis=0)) / np.std(seen, axis=0)

    raw, _ = env.reset()
    obs, stored = normalised(raw), []
    for step in range(1, steps):
        with torch.no_grad():
            value(tensor(obs)[None])
        raw, reward, terminated, truncated, _ = env.step(0)
        with torch.no_grad():
            value(tensor(normalised(raw))[None])
        stored.append((obs, reward))
        raw = env.reset()[0] if terminated or truncated else raw
        seen.append(raw)
        obs = normalised(raw)
        if step % 16 == 0:
            rows = tensor([each for each, _ in stored[-16:]])
            loss = (value(rows)[:, 0] - tensor([each for _, each in stored[-16:]])).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def test_rows_are_known_that_were_valued_before_they_were_acted_on() -> None:
    _, script = watched(normalising)
    learned = [each for _, each in script.events("call") if each["grad"] and not each["acting"]]
    assert learned
    assert np.mean([(each.arrays["rows"] >= 0).mean() for each in learned]) > 0.9


def asking_again(steps: int = 120) -> None:
    """What is acted on is normalised; before it learns, it asks about the state that the last step was taken from."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    env, value = Drift(), net(1)
    optimizer = torch.optim.Adam(value.parameters(), 1e-3)
    seen: list[np.ndarray] = [rng.normal(size=WIDTH) for _ in range(20)]
    raw, _ = env.reset()
    stored: list[np.ndarray] = []
    for step in range(1, steps):
        seen.append(raw)
        obs = (raw - np.mean(seen, axis=0)) / np.std(seen, axis=0)
        with torch.no_grad():
            value(tensor(obs)[None])
        stored.append(obs)
        raw, _, terminated, truncated, _ = env.step(0)
        raw = env.reset()[0] if terminated or truncated else raw
        if step % 16 == 0:
            with torch.no_grad():
                value(tensor(stored[-1])[None])
            loss = value(tensor(stored[-16:])).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def test_the_state_that_was_just_left_is_not_the_current_one() -> None:
    _, script = watched(asking_again)
    learned = [(audit, each) for audit, each in script.events("call") if each["grad"]]
    assert learned
    for audit, each in learned:
        rows = each.arrays["rows"]
        assert (np.diff(rows) > 0).all()
        assert audit.nodes.acted[audit.nodes.index(rows[-1:])].all()


def stacking(steps: int = 60) -> None:
    """The newest of four frames comes last."""
    torch.manual_seed(0)
    env, value = Drift(), nn.Linear(4 * WIDTH, 1)
    optimizer = torch.optim.Adam(value.parameters(), 1e-3)
    frames, stored = [env.reset()[0]] * 4, []
    for step in range(1, steps):
        stored.append(np.concatenate(frames))
        obs, _, terminated, truncated, _ = env.step(0)
        frames = [env.reset()[0]] * 4 if terminated or truncated else [*frames[1:], obs]
        if step % 16 == 0:
            loss = value(tensor(stored[-16:])).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def test_a_stack_is_its_newest_frame() -> None:
    _, script = watched(stacking)
    found = [(audit, each) for audit, each in script.events("call") if each["grad"] and not each["acting"]]
    assert found
    for audit, call in found:
        nodes, rows = audit.nodes, call.arrays["rows"]
        assert (nodes.obs[nodes.index(rows)] == call.arrays["input"][:, -WIDTH:]).all()


SCALE = np.linspace(0.25, 2.0, WIDTH).astype(np.float32)


def scaling(moving: bool = False, steps: int = 120, raw_first: bool = False) -> None:
    """Elements are scaled one by one. At first no network is asked; batches are of all steps so far."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    env, value = Drift(), net(1)
    optimizer = torch.optim.Adam(value.parameters(), 1e-3)
    count = 0

    def scaled(obs: np.ndarray) -> np.ndarray:
        nonlocal count
        count += moving
        return (obs - np.float32(0.5)) * SCALE / np.float32(1.0 + 0.01 * count)

    obs, stored = scaled(env.reset()[0]), []
    for step in range(steps):
        if step >= 60:
            with torch.no_grad():
                value(tensor(obs)[None])
        raw, reward, terminated, truncated, _ = env.step(0)
        stored.append((obs, reward))
        begun = env.reset()[0] if terminated or truncated else None
        obs = scaled(raw) if begun is None else begun if raw_first else scaled(begun)
        if step >= 60:
            batch = [stored[each] for each in rng.integers(0, len(stored), 16)]
            loss = (value(tensor([each for each, _ in batch]))[:, 0] - tensor([each for _, each in batch])).square()
            optimizer.zero_grad()
            loss.mean().backward()
            optimizer.step()


def test_rows_are_known_whose_elements_were_scaled_though_no_network_acted_on_them() -> None:
    _, script = watched(scaling)
    learned = [each for _, each in script.events("call") if each["grad"] and not each["acting"]]
    assert np.mean([(each.arrays["rows"] >= 0).mean() for each in learned[-3:]]) > 0.9
    nodes = {int(id): obs for audit in script.audits for id, obs in zip(audit.nodes.id, audit.nodes.obs, strict=True)}
    for each in learned:
        known = each.arrays["rows"] >= 0
        own = np.stack([nodes[int(id)] for id in each.arrays["rows"][known]]) if known.any() else np.empty((0, WIDTH))
        assert np.allclose((own - 0.5) * SCALE, each.arrays["input"][known], atol=1e-5)


def test_rows_that_were_scaled_by_what_moves_are_not_taken_for_others() -> None:
    _, script = watched(lambda: scaling(moving=True))
    learned = [each for _, each in script.events("call") if each["grad"] and not each["acting"]]
    assert learned
    assert np.mean([(each.arrays["rows"] >= 0).mean() for each in learned[:10]]) < 0.3
