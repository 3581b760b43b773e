"""Whose code a file holds: the user's own, an installed library's, Python's, or ours."""

from __future__ import annotations

import re
import site
import sys
import sysconfig
from functools import lru_cache
from pathlib import Path

# Libraries by name, wherever they lie: a checkout that is installed in place is still not the user's own code.
LIBRARIES = frozenset(
    [
        "torch",
        "torchvision",
        "torchaudio",
        "functorch",
        "numpy",
        "scipy",
        "pandas",
        "gymnasium",
        "gym",
        "ale_py",
        "mujoco",
        "Box2D",
        "pygame",
        "pettingzoo",
        "stable_baselines3",
        "sb3_contrib",
        "torchrl",
        "tensordict",
        "tianshou",
        "ray",
        "rllib",
        "supersuit",
        "shimmy",
        "wandb",
        "tensorboard",
        "matplotlib",
        "cloudpickle",
        "tqdm",
        "rich",
        "hydra",
        "omegaconf",
        "transformers",
        "accelerate",
        "peft",
        "trl",
        "cv2",
        "PIL",
        "pytest",
        "_pytest",
        "pluggy",
    ]
)
# Where libraries and Python itself lie on whatever machine: a traceback may come from another one.
_ELSEWHERE = re.compile(
    r".*[/\\](?:site|dist)-packages[/\\]|[/\\](?:lib|lib64)[/\\]python\d[\d.]*t?[/\\]|[/\\]Python\d+[/\\][Ll]ib[/\\]"
)
_OURS = Path(__file__).resolve().parents[2]
_OURS_TO_RUN = ("algos", "parts", "probes")  # what a program may itself consist of


def is_ours(file: str) -> bool:
    path = Path(file)
    return path.is_relative_to(_OURS) and path.relative_to(_OURS).parts[0] not in _OURS_TO_RUN


@lru_cache(maxsize=1)
def _installed() -> tuple[Path, ...]:
    paths = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    paths += [site.getusersitepackages(), str(Path(sys.base_prefix) / "lib"), *getattr(site, "getsitepackages", list)()]
    return tuple(Path(each) for each in paths if each)


def is_own(file: str, module: str) -> bool:
    if module.partition(".")[0] in LIBRARIES or file.startswith("<frozen"):
        return False
    if _ELSEWHERE.search(file):
        return False
    path = Path(file)
    return not any(path.is_relative_to(each) for each in _installed())


def module_of(file: str) -> str:
    """torch.nn.modules.linear, from its path; the file's own name where it is not installed."""
    path = Path(file)
    if elsewhere := _ELSEWHERE.search(file):
        return ".".join(re.split(r"[/\\]", file[elsewhere.end() :].removesuffix(".py"))).removesuffix(".__init__")
    for root in _installed():
        if path.is_relative_to(root):
            return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
    return path.stem
