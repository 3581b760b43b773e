"""What is installed, and what the libraries around an environment say: M071–M074, M080–M086 and their relatives."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import RecordVideo

from tests.errors.cases import cases_in, check, raises

# ── M071–M074: which environments there are ─────────────────────────────────────────────────────────────────────────


@raises("M071", "INS441", "LunarLander-v2", 'gymnasium.make("LunarLander-v3")')
def version_that_is_gone():
    gym.make("LunarLander-v2")  # here


@raises("M071 warning", "INS441", "CartPole-v0", "CartPole-v1", warns=True)
def version_that_is_old():
    gym.make("CartPole-v0")  # here


@raises("M071 never there", "INS441", "CartPole has no version v7", "v0, v1")
def version_that_never_was():
    gym.make("CartPole-v7")  # here


@raises("M072 typo", "INS441", "CartPoll", "CartPole?")
def name_misspelt():
    gym.make("CartPoll-v1")  # here


@raises("M072 own", "INS441", "MyWarehouse", "register()")
def environment_not_registered():
    gym.make("MyWarehouse-v0")  # here


@raises("M072 atari", "INS441", "ale-py", "register_envs(ale_py)")
def atari_not_registered():
    gym.make("BreakoutNoFrameskip-v4")  # here


@raises("M073", "INS401", "ALE/", "pip install ale-py", "register_envs(ale_py)")
def atari_namespace():
    gym.make("ALE/Pong-v5")  # here


@raises("M074 box2d", "INS401", "Box2D is not installed", "gymnasium[box2d]")
def box2d_missing():
    gym.make("LunarLander-v3")  # here


@raises("M074 mujoco", "INS401", "MuJoCo is not installed", "gymnasium[mujoco]")
def mujoco_missing():
    gym.make("HalfCheetah-v5")  # here


@raises("X420 mujoco_py", "INS401", "no longer needed", "gymnasium[mujoco]")
def mujoco_py_missing():
    import mujoco_py  # here  # noqa: F401


@raises("X421 mujoco v2", "INS441", "v2 and v3", "HalfCheetah-v5")
def mujoco_of_an_old_version():
    gym.make("HalfCheetah-v2")  # here


@raises("X422 malformed", "INS441", "Name-v0")
def malformed_name():
    gym.make("Cart Pole")  # here


@raises("X423 opencv", "INS401", "opencv", "gymnasium[other]")
def opencv_missing():
    from gymnasium.wrappers import AtariPreprocessing

    AtariPreprocessing(gym.make("CartPole-v1"))  # here


@raises("X446 roms", "INS401", "the game Pong", "--upgrade ale-py", only_text=True)
def games_not_installed():
    raise RuntimeError(  # here
        'We\'re Unable to find the game "Pong". Note: Gym no longer distributes ROMs. If you own a license to use the'
        " necessary ROMs for research purposes you can download them via `pip install gym[accept-rom-license]`."
    )


# ── M080, M081 ──────────────────────────────────────────────────────────────────────────────────────────────────────


@raises("M080 bool8", "INS402", "numpy has no bool8", "np.bool_")
def bool8_of_numpy():
    return np.bool8  # here


@raises("M080 float", "INS402", "write float")
def float_of_numpy():
    return np.zeros(3, dtype=np.float)  # here


@raises("M080 int", "INS402", "write int")
def int_of_numpy():
    return np.arange(3).astype(np.int)  # here


@raises("X425 float_", "INS402", "np.float64")
def float_of_numpy_1():
    return np.float_(3)  # here


@raises("X426 NaN", "INS402", "np.nan")
def nan_of_numpy_1():
    return np.NaN  # here


@raises("X427 Monitor", "INS402", "RecordVideo")
def monitor_of_old_gym():
    gym.wrappers.Monitor(gym.make("CartPole-v1"), "videos")  # here


@raises("X428 FrameStack", "INS402", "FrameStackObservation")
def frame_stack_of_old_gym():
    gym.wrappers.FrameStack(gym.make("CartPole-v1"), 4)  # here


@raises("X429 compiled", "INS443", "numpy<2", only_text=True)
def compiled_for_numpy_1():
    raise ImportError("numpy.core.multiarray failed to import")  # here


@raises("X429 dtype size", "INS443", "update what the traceback ends in", only_text=True)
def compiled_for_another_numpy():
    raise ValueError(  # here
        "numpy.dtype size changed, may indicate binary incompatibility. Expected 96 from C header, got 88 from PyObject"
    )


@raises("M081", "EVA440", "env was made with render_mode=None", 'render_mode="rgb_array"', "test_installed.py:")
def recorder_without_pictures():
    env = gym.make("CartPole-v1")
    RecordVideo(env, "videos")  # here


@raises("X430 render", "EVA440", 'render_mode="rgb_array"', warns=True)
def render_without_a_mode():
    env = gym.make("CartPole-v1")
    env.reset(seed=0)
    env.render()  # here


@raises("X431 render mode", "EVA440", "was given a mode", "render() without arguments")
def render_of_old_gym():
    env = gym.make("CartPole-v1", render_mode="rgb_array")
    env.reset(seed=0)
    env.render(mode="human")  # here


# ── M082, M083, M086: what Stable-Baselines3 says ───────────────────────────────────────────────────────────────────


@raises("M082", "ACT440", "Box(-1.0, 1.0, (2,), float32)", "SAC", only_text=True)
def dqn_for_continuous_actions():
    raise AssertionError(  # here
        "The algorithm only supports (<class 'gymnasium.spaces.discrete.Discrete'>,) as action spaces but"
        " Box(-1.0, 1.0, (2,), float32) was provided"
    )


@raises("M082 sac", "ACT440", "Discrete(4)", "DQN", only_text=True)
def sac_for_discrete_actions():
    raise AssertionError(  # here
        "The algorithm only supports <class 'gymnasium.spaces.box.Box'> as action spaces but Discrete(4) was provided"
    )


@raises("M083", "ENV406", "the model has Box(0, 255, (84, 84, 4), uint8)", "wrappers", only_text=True)
def model_with_other_wrappers():
    raise ValueError(  # here
        "Observation spaces do not match: Box(0, 255, (84, 84, 4), uint8) != Box(0, 255, (210, 160, 3), uint8)"
    )


@raises("M083 number", "ENV406", "number", only_text=True)
def model_with_another_number():
    raise AssertionError(  # here
        "The number of environments to be set is different from the number of environments in the model: "
        "(1 != 8), whereas `set_env` requires them to be the same. To load a model with a different number of"
        " environments, you must use `PPO.load(path, env)` instead"
    )


@raises("M086", "BUF440", "2000 rows in batches of 64 leave 16", "50 or 80", only_text=True)
def batch_that_does_not_divide():
    raise UserWarning(  # here
        "You have specified a mini-batch size of 64, but because the `RolloutBuffer` is of size"
        " `n_steps * n_envs = 2000`, after every 31 untruncated mini-batches, there will be a truncated mini-batch of"
        " size 16\nWe recommend using a `batch_size` that is a factor of `n_steps * n_envs`.\nInfo: (n_steps=1000 and"
        " n_envs=2)"
    )


# ── displays ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@raises("X440 pygame", "INS442", "SDL_VIDEODRIVER=dummy", only_text=True)
def no_video_device():
    raise RuntimeError("No available video device")  # here


@raises("X441 mujoco", "INS442", "MUJOCO_GL=egl", only_text=True)
def no_opengl():
    raise RuntimeError("gladLoadGL error")  # here


@raises("X442 egl", "INS442", "osmesa", only_text=True)
def no_egl():
    raise ImportError(  # here
        "Cannot initialize a EGL device display. This likely means that your EGL driver does not support the"
        " PLATFORM_DEVICE extension, which is required for creating a headless rendering context."
    )


@raises("X443 glfw", "INS442", "xvfb-run", only_text=True)
def no_display():
    raise RuntimeError("X11: The DISPLAY environment variable is missing")  # here


@raises("X444 opencv", "INS442", "opencv-python-headless", only_text=True)
def no_libgl():
    raise ImportError("libGL.so.1: cannot open shared object file: No such file or directory")  # here


@pytest.mark.parametrize("case", cases_in(globals()), ids=lambda case: case.id)
def test_it_is_explained(case):
    check(case)
