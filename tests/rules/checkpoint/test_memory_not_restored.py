import numpy as np
import pytest
import torch
from torch import nn

from rldebug.rules.checkpoint.memory_not_restored import MemoryNotRestored
from tests.judge import fires, not_enough, quiet
from tests.programs.worlds import Line, network
from tests.watched import watched

rule = MemoryNotRestored()


def sitting(net, memory, *, waits, seed=0, steps=48, rows=32):
    """Q-learning from a memory, that begins as soon as so many steps are in it."""
    env, rng = Line(), np.random.default_rng(seed)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    obs, _ = env.reset(seed=seed)
    for _ in range(steps):
        action = int(rng.integers(2))
        with torch.no_grad():
            net(torch.as_tensor(obs)[None])
        after, reward, terminated, _, _ = env.step(action)
        memory.append((obs, action, reward, after, terminated))
        obs = env.reset()[0] if terminated else after
        if len(memory) < waits:
            continue
        drawn = [memory[each] for each in rng.integers(0, len(memory), rows)]
        s, a, r, after_s, ended = (torch.as_tensor(np.stack(each)) for each in zip(*drawn, strict=True))
        with torch.no_grad():
            target = r.float() + 0.9 * ~ended * net(after_s).max(1).values
        optimizer.zero_grad()
        (net(s).gather(1, a[:, None])[:, 0] - target).square().mean().backward()
        optimizer.step()


def resumed(folder, *, waits=1, memory=True, stored=False):
    """Two sittings, with a file between them."""
    torch.manual_seed(0)
    first, kept = network(), []
    sitting(first, kept, waits=32)
    torch.save(first.state_dict(), folder / "net.pt")
    second: nn.Module = network()
    if stored:
        second.load_state_dict(torch.load(folder / "net.pt"))
    sitting(second, kept if memory else [], waits=waits, seed=1)


def test_fires_where_the_second_sitting_begins_with_nothing(tmp_path):
    found = fires(rule, watched(lambda: resumed(tmp_path, memory=False, stored=True))[1])
    assert found.component == "checkpoint"
    assert "batches of 32 rows hold 1 to " in found.seen


@pytest.mark.parametrize("how", [{"memory": True}, {"memory": False, "waits": 32}], ids=["restored", "filled first"])
def test_quiet_where_there_is_something_to_learn_from(tmp_path, how):
    quiet(rule, watched(lambda: resumed(tmp_path, stored=True, **how))[1])


def test_without_a_file_it_says_nothing(tmp_path):
    assert "file" in not_enough(rule, watched(lambda: resumed(tmp_path, memory=False))[1])
