import pytest

from rldebug.rules.preprocessing.bytes_added_up import BytesAddedUp
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        class Grey(gym.ObservationWrapper):
            def observation(self, frame):
                grey = (frame[..., 0] + frame[..., 1] + frame[..., 2]) // 3  # here
                return grey.astype(np.uint8)
        """,
        """
        space = Box(0, 255, (84, 84), np.uint8)
        obs, reward, terminated, truncated, info = env.step(action)
        small = (obs[::2, ::2, 0] + obs[::2, ::2, 1] + obs[::2, ::2, 2]) / 3  # here
        """,
    ],
)
def test_fires_where_nothing_was_converted(code):
    points_at(BytesAddedUp(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        def grey(frame):
            frame = frame.astype(np.float32)
            return ((frame[..., 0] + frame[..., 1] + frame[..., 2]) / 3).astype(np.uint8)
        """,
        """
        def grey(frame):
            return (frame[..., 0] / 3 + frame[..., 1] / 3 + frame[..., 2] / 3).astype(np.uint8)
        """,
        """
        def grey(frame):
            return (0.3 * frame[..., 0] + 0.6 * frame[..., 1] + 0.1 * frame[..., 2]).astype(np.uint8)
        """,
        """
        def middle(corners):
            return (corners[..., 0] + corners[..., 1] + corners[..., 2]) / 3
        """,
    ],
)
def test_quiet_where_it_is_or_no_bytes_are_meant(code):
    quiet(BytesAddedUp(), text(code))
