"""PNG files say what was put into them."""

from __future__ import annotations

import numpy as np
import pytest

from rldebug.capture.png import Animation, encode
from tests.capture.decode_png import decode, decode_animation

RNG = np.random.default_rng(0)


def noise(*shape):
    return RNG.integers(0, 256, shape, dtype=np.uint8)


@pytest.mark.parametrize("shape", [(1, 1), (7, 5), (1, 9), (30, 20, 3), (1, 1, 3), (257, 3, 3)])
def test_a_picture_is_read_back(shape):
    picture = noise(*shape)
    assert np.array_equal(decode(encode(picture)), picture)


def test_one_that_lies_scattered_in_memory_too():
    picture = noise(40, 60, 3)[::3, ::-2]
    assert np.array_equal(decode(encode(picture)), picture)


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        (np.zeros((4, 4), dtype=np.float32), TypeError, "uint8, not float32"),
        ([[1, 2]], TypeError, "uint8, not list"),
        (noise(4), ValueError, r"not \(4,\)"),
        (noise(4, 4, 2), ValueError, r"not \(4, 4, 2\)"),
        (noise(0, 4), ValueError, r"not \(0, 4\)"),
    ],
)
def test_what_is_no_picture_is_said(wrong, error, says):
    with pytest.raises(error, match=says):
        encode(wrong)


@pytest.mark.parametrize("channels", [(), (3,)])
def test_an_animation_is_read_back(channels, tmp_path):
    """Frames that differ in a part, in all, in nothing; and each stays until the next comes."""
    first = noise(12, 17, *channels)
    second = first.copy()
    second[3:5, 4:9] ^= 255
    shown = [first, second, second.copy(), noise(12, 17, *channels), first]
    animation = Animation(tmp_path / "a.png")
    for frame, at in zip(shown, (0.0, 0.1, 0.3, 0.3, 1.0), strict=True):
        assert animation.add(frame, at)
    assert not animation.add(noise(12, 18, *channels), 1.5)
    animation.close(stays=0.25)
    frames, delays = decode_animation((tmp_path / "a.png").read_bytes())
    assert all(np.array_equal(*each) for each in zip(frames, shown, strict=True))
    assert delays == [100, 200, 1, 700, 250]
    assert animation.frames == 5


def test_only_what_has_changed_is_written(tmp_path):
    first = noise(200, 200, 3)
    second = first.copy()
    second[100, 100] ^= 255
    animation = Animation(tmp_path / "a.png")
    for at, frame in enumerate([first, second] * 10):
        animation.add(frame, at)
    animation.close()
    assert (tmp_path / "a.png").stat().st_size < 1.1 * len(encode(first))


def test_an_animation_without_frames_leaves_no_file(tmp_path):
    Animation(tmp_path / "a.png").close()
    assert not list(tmp_path.iterdir())
