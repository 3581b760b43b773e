"""What is tried: each a few lines of Python that run in a process of their own, with `at` and `tell` at hand."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection

from rldebug.evidence.machines.child import Attempt

TORCH = """
import os
at("importing torch")
import torch, torch.multiprocessing, torch.distributions, torch.optim
here = os.path.join(os.getcwd(), "")
# No file can take the place of what is built in, nor of what Python has loaded before it looks there.
early = {"encodings", "os", "abc", "codecs", "io", "site", "stat", "posixpath", "genericpath"}
def may_be_hidden(name):
    origin = getattr(getattr(sys.modules[name], "__spec__", None), "origin", None)
    return origin not in (None, "built-in", "frozen") and not origin.startswith(here) and name not in early
brings = sorted(each for each in sys.modules if each[0] != "_" and "." not in each and may_be_hidden(each))
tell(version=torch.__version__, cuda=torch.version.cuda, hip=torch.version.hip, threads=torch.get_num_threads(),
     brings=brings)
at("reading its switches")
tell(sharing=torch.multiprocessing.get_sharing_strategy(), deterministic=torch.are_deterministic_algorithms_enabled(),
     benchmark=torch.backends.cudnn.benchmark, mps=torch.backends.mps.is_available(),
     tf32=torch.get_float32_matmul_precision() != "highest")
at("handing an array over to torch")
try:
    import numpy
    torch.from_numpy(numpy.zeros(2)), torch.zeros(2).numpy()
except ImportError:
    pass
except Exception as error:
    tell(numpy=f"{type(error).__name__}: {error}")
at("asking whether there is a GPU")
if torch.version.cuda or torch.version.hip:
    tell(available=torch.cuda.is_available(), archs=torch.cuda.get_arch_list())
    at("counting the GPUs")
    count = torch.cuda.device_count()
    tell(count=count)
    if count and torch.cuda.is_available():
        tell(computed=False)
        at("asking what the GPUs can do")
        tell(capabilities=["%d.%d" % torch.cuda.get_device_capability(each) for each in range(count)],
             cudnn=torch.backends.cudnn.version())
        at("multiplying matrices on the first GPU")
        one = torch.ones(64, 64, device="cuda")
        product = (one @ one).sum().item()
        tell(computed=product == 64.0**3)
"""

IMPORTS = """
import importlib, importlib.util
for name in sys.argv[2:]:
    at(name)
    try:
        module = importlib.import_module(name)
    except BaseException as error:
        tell(**{"import " + name: " ".join(f"{type(error).__name__}: {error}".split())})
        continue
    tell(**{"import " + name: "", "file of " + name: getattr(module, "__file__", None) or ""})
    part = {"torchrl": "torchrl._torchrl", "tensordict": "tensordict._C"}.get(name)
    if part is None or importlib.util.find_spec(part) is None:
        continue
    try:
        importlib.import_module(part)
        tell(**{"extension " + name: ""})
    except Exception as error:
        built = getattr(sys.modules.get(name + "._extension"), "pytorch_version", "unknown")
        said = " ".join(str(error).split()).rpartition("/")[2]
        said = f"{type(error).__name__}: " + (said if len(said) <= 110 else said[:110] + "…")
        tell(**{"extension " + name: said if built == "unknown" else f"built with PyTorch {built}; {said}"})
"""

FORK = """
import os, time
at("computing with threads")
import torch
work = torch.ones(512, 512)
for _ in range(3):
    work @ work
at("starting a worker by fork")
worker = os.fork()
if worker == 0:
    work @ work
    os._exit(0)
until = time.monotonic() + 2.5
ended = 0
while not ended and time.monotonic() < until:
    time.sleep(0.02)
    ended, status = os.waitpid(worker, os.WNOHANG)
if not ended:
    os.kill(worker, 9)
tell(hangs=not ended)
"""

MUJOCO = """
at("importing mujoco")
import mujoco
at("stepping a model")
model = mujoco.MjModel.from_xml_string(
    '<mujoco><worldbody><light pos="0 0 3"/><body pos="0 0 1"><freejoint/>'
    '<geom type="sphere" size=".3" rgba="1 0 0 1"/></body></worldbody></mujoco>')
data = mujoco.MjData(model)
mujoco.mj_step(model, data)
"""

RENDERING = """
at("opening a renderer")
with mujoco.Renderer(model, 48, 48) as renderer:
    at("drawing a picture")
    renderer.update_scene(data)
    tell(bright=int(renderer.render().max()))
"""

ENVIRONMENT = """
name = sys.argv[2]
at("importing gymnasium")
import gymnasium
if name.startswith("ALE/"):
    at("importing ale_py")
    import ale_py
    gymnasium.register_envs(ale_py)
at("making " + name)
env = gymnasium.make(name, **json.loads(sys.argv[3]))
env.reset(seed=0)
at("stepping " + name)
env.step(env.action_space.sample())
if env.render_mode:
    at("drawing " + name)
    tell(shape=list(env.render().shape))
env.close()
"""

# Those that bring torch along are imported one after the other in one process: torch takes longer than they.
ON_TORCH = {
    "stable-baselines3": "stable_baselines3",
    "sb3-contrib": "sb3_contrib",
    "tensordict": "tensordict",
    "torchrl": "torchrl",
    "tianshou": "tianshou",
}
ALONE = {
    "gym": "gym",
    "gymnasium": "gymnasium",
    "ale-py": "ale_py",
    "box2d": "Box2D",
    "box2d-py": "Box2D",
    "pygame": "pygame",
    "pygame-ce": "pygame",
    "numba": "numba",
    "scipy": "scipy.linalg",
    "pandas": "pandas",
    "matplotlib": "matplotlib.pyplot",
    "opencv-python": "cv2",
    "opencv-python-headless": "cv2",
    "opencv-contrib-python": "cv2",
    "pettingzoo": "pettingzoo",
    "minigrid": "minigrid",
    "ray": "ray",
    "wandb": "wandb",
    "tensorboard": "tensorboard",
}


def attempts(installed: Collection[str]) -> list[Attempt]:
    """What is worth trying with these distributions installed; the longest first."""
    made: list[Attempt] = []
    for name, modules in (("imports on torch", ON_TORCH), ("imports", ALONE)):
        wanted = dict.fromkeys(module for package, module in modules.items() if package in installed)
        if wanted:
            made.append(Attempt(name, IMPORTS, 60.0, arguments=tuple(wanted)))
    if "torch" in installed:
        made.insert(0, Attempt("torch", TORCH, 60.0))
        if sys.platform == "linux":
            made.append(Attempt("fork", FORK, 20.0))
    made += _environments(installed)
    if "mujoco" in installed:
        made.append(Attempt("mujoco", MUJOCO, variables={"MUJOCO_GL": "disable"}))
        made.append(Attempt("mujoco as set", MUJOCO + RENDERING, 20.0))
        made += [Attempt(f"mujoco {each}", MUJOCO + RENDERING, 20.0, {"MUJOCO_GL": each}) for each in backends()]
    return made


def backends() -> tuple[str, ...]:
    """Ways of drawing that MuJoCo can be told to take, those that need no screen first; elsewhere there is one."""
    return ("egl", "osmesa", "glfw") if sys.platform == "linux" else ()


def _environments(installed: Collection[str]) -> list[Attempt]:
    if "gymnasium" not in installed:
        return []
    made = []
    if "ale-py" in installed:
        made.append(_environment("atari", "ALE/Pong-v5"))
    if {"box2d", "box2d-py"} & set(installed):
        made.append(_environment("box2d", "LunarLander-v3"))
    if {"pygame", "pygame-ce"} & set(installed):
        made.append(_environment("pygame", "CartPole-v1", '{"render_mode": "rgb_array"}'))
    return made


def _environment(name: str, called: str, arguments: str = "{}") -> Attempt:
    # Without a sound card SDL complains, and may wait for one.
    quiet = {} if "SDL_AUDIODRIVER" in os.environ else {"SDL_AUDIODRIVER": "dummy"}
    return Attempt(name, ENVIRONMENT, 20.0, {**quiet, "PYGAME_HIDE_SUPPORT_PROMPT": "1"}, (called, arguments))
