import numpy as np
import pytest

from rldebug.capture.frames import Frames


def histories(shape: str, *, kept: bool) -> Frames:
    """Histories of three observations of four numbers, over six episodes of ten steps."""
    draw = np.random.default_rng(1)
    frames, last, stack = Frames(), None, []
    for _ in range(6):
        first = draw.normal(size=4)
        stack = [*stack, first][-3:] if kept and stack else [first] * 3
        for step in range(10):
            if step:
                stack = [*stack[1:], draw.normal(size=4)]
            obs = np.concatenate(stack) if shape == "vector" else np.stack(stack)
            frames.look(last, obs, reset=step == 0)
            last = obs
    return frames


@pytest.mark.parametrize("shape", ["vector", "rows"])
def test_histories_that_survive_a_reset_are_told_from_those_that_do_not(shape):
    assert histories(shape, kept=True).describe()["carried"] == 5
    healthy = histories(shape, kept=False).describe()
    assert healthy["carried"] == 0
    assert healthy["length"] == 3
    assert healthy["moved"] >= 0.8 * healthy["looked"]


def test_plain_vectors_are_no_histories():
    frames, draw = Frames(), np.random.default_rng(2)
    last = None
    for step in range(60):
        obs = draw.normal(size=6)
        frames.look(last, obs, reset=step % 10 == 0)
        last = obs
    assert frames.describe() == {}
