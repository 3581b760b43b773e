import struct
import sys
import zlib
from fractions import Fraction

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.spaces import Box, Discrete
from gymnasium.wrappers import TimeLimit
from hypothesis import given, settings
from hypothesis import strategies as st

from rldebug.parts.kernels.resize import overlaps, shrink, to_grey
from rldebug.parts.preprocess import (
    AtariFrames,
    FrameStack,
    Inspect,
    atari_env,
    is_atari,
    keep_every,
    picture,
    png,
    preprocess,
)


class Game(gym.Env):
    """A game whose frame number t is a flat grey of 10 t; FIRE adds a bright pixel that is there in odd frames only.

    A game lasts `length` frames and has three lives, one lost at each frame in `losses`. The reward of frame t is t.
    """

    observation_space = Box(0, 255, (6, 4, 3), np.uint8)
    action_space = Discrete(3)

    def __init__(self, length=1000, losses=(), meanings=("NOOP", "FIRE", "UP"), cut=1000):
        self.length, self.losses, self.meanings, self.cut = length, losses, list(meanings), cut
        self.starts = 0
        self.actions = []
        self._screen = np.zeros((6, 4, 3), np.uint8)  # one buffer, overwritten, as careless environments do

    def get_action_meanings(self):
        return self.meanings

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.starts += 1
        self.frame, self.lives = 0, 3
        self.actions.append("reset")
        return self._draw(0), {"lives": self.lives}

    def step(self, action):
        self.frame += 1
        self.actions.append(int(action))
        self.lives -= self.frame in self.losses
        terminated, truncated = self.frame >= self.length, self.frame >= self.cut
        return self._draw(action), float(self.frame), terminated, truncated, {"lives": 0 if terminated else self.lives}

    def _draw(self, action):
        self._screen[:] = min(10 * self.frame, 250)
        if action == 1 and self.frame % 2:
            self._screen[0, 0] = 255
        return self._screen


def frames(env, **options):
    return AtariFrames(env, **{"size": 2, "noops": 0, "fire": False, "lives": False, "clip": False} | options)


# ── the kernel ───────────────────────────────────────────────────────────────────────────────────────────────────────


def share(before, after, cell, pixel):
    """Of `after` cells as long together as `before` pixels: what part of a cell is a pixel's."""
    length = Fraction(before, after)
    return max(Fraction(0), min((cell + 1) * length, pixel + 1) - max(cell * length, pixel)) / length


def area_average(image, height, width):
    """The twin, from the definition: the mean over a cell of the picture, each pixel counting by the area it shares."""
    out = np.zeros((height, width), np.uint8)
    rows = [[share(image.shape[0], height, cell, y) for y in range(image.shape[0])] for cell in range(height)]
    columns = [[share(image.shape[1], width, cell, x) for x in range(image.shape[1])] for cell in range(width)]
    for i, j in np.ndindex(height, width):
        parts = (rows[i][y] * columns[j][x] * int(image[y, x]) for y, x in np.ndindex(image.shape) if rows[i][y])
        out[i, j] = int(sum(parts) + Fraction(1, 2))
    return out


def shrunk(newer, older, height, width):
    channels = newer.shape[2]
    left, columns = overlaps(newer.shape[1], width)
    left = (left[:, None] * channels + np.arange(channels)).reshape(-1)
    out = np.empty((height, width * channels), np.uint8)
    flat = (each.reshape(each.shape[0], -1) for each in (newer, older))
    shrink(*flat, *overlaps(newer.shape[0], height), left, np.repeat(columns, channels, axis=1), channels, out)
    return out.reshape(height, width, channels)


SIZES = st.integers(1, 9)


@settings(deadline=None, max_examples=30)
@given(SIZES, SIZES, SIZES, SIZES, st.sampled_from([1, 3]), st.integers(0))
def test_shrinking_is_the_area_average_of_the_larger(height, width, rows, columns, channels, seed):
    newer, older = np.random.default_rng(seed).integers(0, 256, (2, height, width, channels), dtype=np.uint8)
    got = shrunk(newer, older, rows, columns)
    for channel in range(channels):
        expected = area_average(np.maximum(newer, older)[..., channel], rows, columns)
        np.testing.assert_array_equal(got[..., channel], expected)


def test_shrinking_at_the_size_of_atari():
    frame = np.random.default_rng(0).integers(0, 256, (210, 160, 1), dtype=np.uint8)
    rows = np.array([[float(share(210, 84, cell, y)) for y in range(210)] for cell in range(84)])
    columns = np.array([[float(share(160, 84, cell, x)) for x in range(160)] for cell in range(84)])
    expected = rows @ frame[..., 0] @ columns.T
    np.testing.assert_array_equal(shrunk(frame, frame, 84, 84)[..., 0], np.floor(expected + 0.5 + 1e-9))


def test_white_stays_white_and_size_stays_size():
    white = np.full((210, 160, 3), 255, np.uint8)
    assert (shrunk(white, white, 84, 84) == 255).all()
    frame = np.random.default_rng(0).integers(0, 256, (84, 84, 1), dtype=np.uint8)
    np.testing.assert_array_equal(shrunk(frame, frame, 84, 84), frame)


def test_grey_is_the_luma():
    colour = np.random.default_rng(0).integers(0, 256, (5, 7, 3), dtype=np.uint8)
    out = np.empty((5, 7), np.uint8)
    to_grey(colour.reshape(5, 21), out)
    for y, x in np.ndindex(5, 7):
        red, green, blue = (int(each) for each in colour[y, x])
        assert out[y, x] == (299 * red + 587 * green + 114 * blue + 500) // 1000


# ── AtariFrames ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_action_is_held_and_rewards_add_up():
    game = Game()
    env = frames(game)
    observation, _ = env.reset(seed=0)
    assert (observation == 0).all()
    observation, reward, terminated, truncated, info = env.step(2)
    assert env.observation_space.contains(observation)
    assert (observation == 40).all()
    assert (reward, info["raw_reward"]) == (1 + 2 + 3 + 4, 10)
    assert not terminated
    assert not truncated
    assert game.actions == ["reset", 2, 2, 2, 2]


def test_the_larger_of_the_last_two_frames_is_seen():
    env = frames(Game(), size=6)
    env.reset()
    seen = env.step(1)[0]  # the bright pixel is in frames 1 and 3, not in the last, 4
    assert seen[0, 0] > 40
    assert seen[5, 5] == 40


def test_without_skipping_nothing_is_pooled():
    env = frames(Game(), size=6, skip=1)
    env.reset()
    assert env.step(1)[0][0, 0] > 10
    assert (env.step(1)[0] == 20).all()


@pytest.mark.parametrize(("length", "seen"), [(5, 50), (6, 60), (7, 70)])
def test_a_game_that_ends_in_mid_skip(length, seen):
    env = frames(Game(length=length), size=6)
    env.reset()
    env.step(2)
    observation, reward, terminated, truncated, info = env.step(2)
    assert terminated
    assert not truncated
    assert reward == sum(range(5, length + 1))
    assert (observation == seen).all()  # nothing of the step before
    assert info["game_return"] == sum(range(1, length + 1))
    assert info["game_length"] == 2


def test_truncated_is_passed_on():
    env = frames(Game(cut=3))
    env.reset()
    _, _, terminated, truncated, info = env.step(2)
    assert (terminated, truncated) == (False, True)
    assert "game_return" in info


def test_rewards_are_clipped_to_their_sign():
    env = frames(Game(), clip=True)
    env.reset()
    _, reward, _, _, info = env.step(2)
    assert (reward, info["raw_reward"]) == (1.0, 10.0)


def test_a_lost_life_ends_the_episode_and_not_the_game():
    game = Game(length=16, losses=(6,))
    env = frames(game, lives=True)
    env.reset()
    assert not env.step(2)[2]
    _, _, terminated, _, info = env.step(2)
    assert terminated
    assert "game_return" not in info
    observation, _ = env.reset()
    assert game.starts == 1
    assert (observation == 120).all()  # the same game, one step of doing nothing later
    _, _, terminated, _, info = env.step(2)
    assert terminated
    assert info["game_return"] == sum(range(1, 17))  # of the whole game
    assert info["game_length"] == 3
    env.reset()
    assert game.starts == 2


def test_for_evaluation_a_lost_life_is_nothing():
    env = frames(Game(losses=(2,)), lives=False)
    env.reset()
    assert not env.step(2)[2]


def test_no_lives_left_before_the_game_is_over_is_no_life_to_go_on_with():
    env = frames(Game(length=8, losses=(1, 2, 3)), lives=True)
    env.reset()
    assert not env.step(2)[2]
    assert env.step(2)[2]


@pytest.mark.parametrize("how", [{}, {"seed": 3}])
def test_reset_in_mid_episode_starts_a_new_game(how):
    game = Game(losses=(2,))
    env = frames(game, lives=True)
    env.reset()
    lost = env.step(2)[2]
    assert lost
    if not how:
        env.reset()  # goes on
        env.step(2)
    env.reset(**how)
    assert game.starts == 2


def test_fire_is_held_at_every_start():
    game = Game(losses=(6,))
    env = frames(game, fire=True, lives=True, skip=2)
    env.reset()
    assert game.actions == ["reset", 1, 1]
    env.step(2)
    assert env.step(2)[2]
    env.reset()
    assert game.actions[-4:] == [0, 0, 1, 1]


def test_no_fire_where_there_is_none():
    game = Game(meanings=("NOOP", "UP", "DOWN"))
    frames(game, fire=True).reset()
    assert game.actions == ["reset"]


def test_noops_are_drawn_from_the_environments_own_generator():
    np.random.seed(0)
    before = np.random.get_state()[1].copy()
    counts = []
    for seed in range(60):
        game = Game()
        observation, _ = frames(game, noops=5).reset(seed=seed)
        counts.append(len(game.actions) - 1)
        assert (observation == 10 * counts[-1]).all()
        again = Game()
        frames(again, noops=5).reset(seed=seed)
        assert again.actions == game.actions
    assert set(counts) == {1, 2, 3, 4, 5}
    np.testing.assert_array_equal(np.random.get_state()[1], before)


def test_a_game_that_ends_while_doing_nothing_is_started_again():
    game = Game(length=3)
    env = frames(game, noops=30)
    env.reset(seed=1)
    assert game.starts > 1
    assert game.frame < 3


def test_an_environment_of_grey_frames_behind_other_wrappers():
    env = frames(TimeLimit(Game(), 6), size=84)
    env.reset()
    assert env.step(2)[3] is False
    observation, _, _, truncated, _ = env.step(2)
    assert truncated
    assert observation.shape == (84, 84)


def test_colour_is_kept_where_it_is_asked_for():
    class Red(Game):
        def _draw(self, action):
            self._screen[:] = (200, 0, 0)
            return self._screen

    observation, _ = frames(Red(), grey=False).reset()
    assert observation.shape == (2, 2, 3)
    assert observation.reshape(-1, 3).tolist() == [[200, 0, 0]] * 4


def test_observations_are_not_overwritten():
    env = frames(Game())
    first, _ = env.reset()
    second = env.step(2)[0]
    third = env.step(2)[0]
    assert [int(each[0, 0]) for each in (first, second, third)] == [0, 40, 80]


class Vector(Game):
    observation_space = Box(-1, 1, (3,))


def skipping():
    game = Game()
    game._frameskip = 4
    return game


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (skipping, {}, r"skips frames by itself \(4\)"),
        (Game, {"skip": 0}, "skip 0"),
        (Vector, {}, r"expected uint8 of shape \(H, W, 3\) or \(H, W\)"),
        (lambda: Game(meanings=("UP",)), {"noops": 3}, r"this one has \['UP'\]\. Pass noops=0"),
    ],
    ids=["skips already", "no skip", "not frames", "no noop"],
)
def test_what_is_refused(make, options, message):
    with pytest.raises(ValueError, match=message):
        frames(make(), **options)


def test_lives_nobody_tells():
    class Silent(Game):
        def reset(self, **given):
            return super().reset(**given)[0], {}

    with pytest.raises(ValueError, match=r"lives=True needs info\['lives'\]"):
        frames(Silent(), lives=True).reset()


# ── FrameStack and the chain ─────────────────────────────────────────────────────────────────────────────────────────


def test_frames_are_stacked_newest_last_and_not_aliased():
    env = FrameStack(frames(Game(), skip=1), 3)
    seen = [env.reset()[0]]
    seen += [env.step(2)[0] for _ in range(4)]
    assert [each[:, 0, 0].tolist() for each in seen] == [[0, 0, 0], [0, 0, 10], [0, 10, 20], [10, 20, 30], [20, 30, 40]]
    assert all(env.observation_space.contains(each) and each.flags.c_contiguous for each in seen)
    seen[-1][:] = 99  # what the user does to an observation stays with the user
    assert env.step(2)[0][:, 0, 0].tolist() == [30, 40, 50]
    assert env.reset()[0][:, 0, 0].tolist() == [0, 0, 0]


def test_a_stack_of_none_is_refused():
    with pytest.raises(ValueError, match="k is 0"):
        FrameStack(Game(), 0)


@pytest.mark.parametrize("lives", [True, False], ids=["lives", "games"])
def test_the_chain(lives):
    env = preprocess(Game(losses=(40,)), lives=lives)
    observation, _ = env.reset(seed=0)
    assert observation.shape == env.observation_space.shape == (4, 84, 84)
    assert observation.dtype == np.uint8
    steps = [env.step(2) for _ in range(20)]
    assert sum(terminated for _, _, terminated, _, _ in steps) == lives
    assert {reward for _, reward, _, _, _ in steps} == {1.0}
    env = preprocess(Game(), size=10, stack=2, skip=2, clip=False)
    assert env.reset(seed=0)[0].shape == (2, 10, 10)
    assert env.step(2)[1] > 1


def test_which_ids_are_atari():
    assert is_atari("ALE/Pong-v5")
    assert not is_atari("CartPole-v1")
    assert not is_atari("never-heard-of-v0")


def test_a_missing_emulator_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ale_py", None)
    with pytest.raises(ImportError, match=r"ALE/Pong-v5 needs .* pip install 'rldebug\[atari\]'"):
        atari_env("ALE/Pong-v5")


def atari(**make):
    pytest.importorskip("ale_py", reason="the atari extra is not installed")
    gym.register_envs(__import__("ale_py"))
    return gym.make("ALE/Pong-v5", frameskip=1, **make)


def test_straight_from_the_emulator_is_the_same_as_through_its_environment():
    direct, plain = (
        AtariFrames(atari(max_num_frames_per_episode=900)),
        AtariFrames(TimeLimit(atari(max_num_frames_per_episode=900), 10**9)),
    )
    rng = np.random.default_rng(0)
    assert np.array_equal(direct.reset(seed=5)[0], plain.reset(seed=5)[0])
    ends = 0
    for _ in range(500):
        action = int(rng.integers(6))
        mine, theirs = direct.step(action), plain.step(action)
        assert np.array_equal(mine[0], theirs[0])
        assert mine[1:] == theirs[1:]
        if mine[3]:
            ends += 1
            assert mine[4]["game_return"] < 0
            assert np.array_equal(direct.reset()[0], plain.reset()[0])
    assert ends == 2
    assert direct.step(0)[0].std() > 0


def test_the_chain_for_a_real_game():
    pytest.importorskip("ale_py", reason="the atari extra is not installed")
    env = atari_env("ALE/Breakout-v5", lives=True)
    assert env.unwrapped.ale.getFloat("repeat_action_probability") == 0.25
    observation, info = env.reset(seed=0)
    assert observation.shape == (4, 84, 84)
    assert info["lives"] == 5
    lives = []
    while len(lives) < 5:
        _, _, terminated, _, info = env.step(env.action_space.sample())
        if terminated:
            lives.append(info["lives"])
            assert ("game_return" in info) == (info["lives"] == 0)
            env.reset()
    assert lives == [4, 3, 2, 1, 0]
    colour = AtariFrames(atari(), grey=False)
    assert colour.reset(seed=0)[0].shape == (84, 84, 3)
    with pytest.raises(ValueError, match="skips frames by itself"):
        AtariFrames(gym.make("ALE/Pong-v5"))


# ── looking at it ────────────────────────────────────────────────────────────────────────────────────────────────────


def read_png(data):
    """A decoder of what `png` may write: 8 bits, grey or RGB, lines without filter."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks = 8, {}
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0] == zlib.crc32(kind + body)
        chunks[kind] = body
        at += 12 + length
    assert list(chunks) == [b"IHDR", b"IDAT", b"IEND"]
    width, height, depth, colour, *rest = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert (depth, rest) == (8, [0, 0, 0])
    lines = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, -1)
    assert (lines[:, 0] == 0).all()
    return lines[:, 1:].reshape((height, width) if colour == 0 else (height, width, 3))


@pytest.mark.parametrize("shape", [(5, 7), (5, 7, 3), (1, 1)], ids=["grey", "colour", "one pixel"])
def test_png_reads_back(shape):
    pixels = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    np.testing.assert_array_equal(read_png(png(pixels)), pixels)


@pytest.mark.parametrize(
    ("shape", "laid"),
    [
        ((6, 8), (6, 8)),
        ((6, 8, 1), (6, 8)),
        ((6, 8, 3), (6, 8, 3)),
        ((3, 6, 8), (6, 8, 3)),
        ((1, 6, 8), (6, 8)),
        ((4, 6, 8), (6, 32)),
        ((6, 8, 4), (6, 32)),
        ((4, 6, 8, 3), (6, 32, 3)),
        ((4, 3, 6, 8), (6, 32, 3)),
        ((2, 4, 6, 8), (12, 32)),
        ((40, 4, 6, 8), (96, 32)),
    ],
    ids=str,
)
def test_how_arrays_are_laid_out(shape, laid):
    pixels, note = picture(np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8))
    assert pixels.shape == laid
    assert note == ""


def test_stacked_frames_are_side_by_side():
    stack = np.arange(4, dtype=np.uint8)[:, None, None] * np.ones((4, 2, 5), np.uint8)
    assert picture(stack)[0].tolist() == [[0] * 5 + [1] * 5 + [2] * 5 + [3] * 5] * 2
    assert picture(np.moveaxis(np.repeat(stack, 4, axis=1), 0, -1))[0].shape == (8, 20)  # stacked as channels


def test_floats_are_stretched_and_their_range_is_told():
    pixels, note = picture(np.array([[-1.0, 0.0], [1.5, 0.25]]))
    assert note == "_from-1_to1.5"
    assert pixels.tolist() == [[0, 102], [255, 128]]
    assert picture(np.array([[True, False]]))[0].tolist() == [[255, 0]]
    assert picture(np.zeros((2, 2)))[1] == "_from0_to0"
    pixels, note = picture(np.array([[np.nan, 1.0], [np.inf, 3.0]], np.float32))
    assert note == "_from1_to3_2-not-finite"
    assert pixels.tolist() == [[0, 0], [0, 255]]


@pytest.mark.parametrize("kind", ["numpy", "torch"])
def test_every_nth_output_is_kept(tmp_path, kind):
    folder = tmp_path / "frames"

    @keep_every(3, folder, limit=2)
    def shifted(number):
        """Shifts."""
        image = np.full((2, 2), number, np.uint8)
        return image if kind == "numpy" else torch.from_numpy(image)

    results = [shifted(number) for number in range(10)]
    assert isinstance(results[0], np.ndarray if kind == "numpy" else torch.Tensor)
    assert shifted.__doc__ == "Shifts."
    assert [number for number, _ in shifted.kept] == [6, 9]
    assert shifted.kept[0][1].tolist() == [[6, 6], [6, 6]]
    results[9][:] = 0
    assert shifted.kept[1][1].tolist() == [[9, 9], [9, 9]]  # a copy
    assert sorted(each.name for each in folder.iterdir()) == ["00000006.png", "00000009.png"]
    assert read_png((folder / "00000009.png").read_bytes()).tolist() == [[9, 9], [9, 9]]


def test_a_tensor_with_a_graph_is_kept_without_it(tmp_path):
    @keep_every(1, tmp_path)
    def scaled(image):
        return image / 2

    assert scaled(torch.ones(2, 2, requires_grad=True)).requires_grad
    assert scaled.kept[0][1].tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert [each.name for each in tmp_path.iterdir()] == ["00000000_from0.5_to0.5.png"]


def test_a_method_can_be_decorated():
    class Intake:
        @keep_every(1)
        def halve(self, image):
            return image // 2

    assert Intake().halve(np.full((1, 1), 8)).tolist() == [[4]]
    assert len(Intake.halve.kept) == 1


def test_trouble_is_warned_of_once_and_never_raised(tmp_path):
    (tmp_path / "file").touch()

    @keep_every(1, tmp_path / "file" / "folder")  # cannot be made
    def same(image):
        return image

    with pytest.warns(UserWarning, match="output 0 could not be kept, and no more will be"):
        same(np.zeros((2, 2)))
    same(np.zeros((2, 2)))  # warnings are errors here


def test_what_is_no_image_is_warned_of(tmp_path):
    with pytest.warns(UserWarning, match=r"shape \(3,\) is no image"):
        keep_every(1, tmp_path)(lambda: np.zeros(3))()


@pytest.mark.parametrize("given", [{"n": 0}, {"n": 1, "limit": 0}], ids=["n", "limit"])
def test_nothing_to_keep_is_refused(given):
    with pytest.raises(ValueError, match="expected at least 1"):
        keep_every(**given)(lambda: None)


def test_inspect_shows_what_the_network_sees(tmp_path):
    env = Inspect(FrameStack(frames(Game())), 2, tmp_path)
    first, _ = env.reset()
    for _ in range(4):
        last = env.step(2)[0]
    assert [number for number, _ in env.kept] == [0, 2, 4]
    np.testing.assert_array_equal(env.kept[0][1], first)
    np.testing.assert_array_equal(env.kept[2][1], last)
    shown = read_png((tmp_path / "00000004.png").read_bytes())
    np.testing.assert_array_equal(shown, np.concatenate(list(last), axis=1))


def test_inspect_needs_images():
    with pytest.raises(ValueError, match="expected images"):
        Inspect(Vector())
