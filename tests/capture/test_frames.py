from __future__ import annotations

from collections import deque

import numpy as np

from rldebug.capture.frames import Frames

RNG = np.random.default_rng(0)


def play(*, keep: bool = False, share: bool = False, axis: int = -1) -> dict[str, int]:
    """Five episodes of ten pictures, three in a stack."""
    frames, before = Frames(), None
    stack: deque[np.ndarray] = deque(maxlen=3)
    for _ in range(5):
        for step in range(10):
            picture = RNG.integers(0, 256, (4, 5)).astype(np.uint8)
            if step == 0 and not (keep and stack):
                stack.extend([picture] * 3)
            stack.append(picture)
            obs = np.stack([picture] * 3 if share else list(stack), axis=axis)
            frames.look(before, obs, reset=step == 0)
            before = obs
    return frames.describe()


def test_a_stack_moves_and_begins_anew():
    for axis in (0, -1):
        seen = play(axis=axis)
        assert seen["length"] == 3
        assert seen["moved"] == seen["looked"] == 45
        assert seen["begun"] == 5
        assert seen["carried"] == seen["equal"] == 0


def test_frames_left_over_are_seen():
    assert play(keep=True)["carried"] == 4


def test_frames_that_share_an_array_are_seen():
    seen = play(share=True)
    assert seen["equal"] == seen["looked"]
    assert seen["moved"] == 0


def test_a_frame_that_is_replaced_while_the_others_stay_is_seen():
    assert play()["held"] == 0
    frames = Frames()
    stack = [RNG.integers(0, 256, (4, 5)).astype(np.uint8)] * 3
    for step in range(10):
        before = np.stack(stack)
        stack = [*stack[:-1], RNG.integers(0, 256, (4, 5)).astype(np.uint8)]
        frames.look(before if step else None, np.stack(stack), reset=False)
    seen = frames.describe()
    assert (seen["looked"], seen["held"], seen["moved"]) == (10, 9, 0)


def test_vectors_are_not_looked_at():
    frames = Frames()
    frames.look(np.zeros(4), np.zeros(4), reset=False)
    frames.look(None, None, reset=True)
    assert frames.describe() == {}
