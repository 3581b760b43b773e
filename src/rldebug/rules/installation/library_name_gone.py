"""The program uses a name that this version of a library lacks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.imports import own_import
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule

_LIBRARIES = (
    "numpy",
    "torch",
    "gymnasium",
    "gym",
    "scipy",
    "stable_baselines3",
    "sb3_contrib",
    "torchrl",
    "tensordict",
    "tianshou",
    "ray",
    "pettingzoo",
    "ale_py",
    "mujoco",
    "PIL",
    "cv2",
    "wandb",
)
# What is gone -> what to write instead.
_INSTEAD = {
    "numpy.bool8": "np.bool_, and move from gym to gymnasium where it is gym that asks for it",
    "numpy.bool": "bool, or np.bool_",
    "numpy.float": "float, or np.float32",
    "numpy.int": "int, or np.int64",
    "numpy.object": "object",
    "numpy.product": "np.prod",
    "numpy.cumproduct": "np.cumprod",
    "numpy.sometrue": "np.any",
    "numpy.in1d": "np.isin",
    "numpy.trapz": "np.trapezoid",
    "gymnasium.wrappers.Monitor": 'gymnasium.wrappers.RecordVideo(env, "videos") and RecordEpisodeStatistics(env)',
    "gym.wrappers.Monitor": 'gymnasium.wrappers.RecordVideo(env, "videos") and RecordEpisodeStatistics(env)',
    "gymnasium.wrappers.FrameStack": "gymnasium.wrappers.FrameStackObservation(env, stack_size)",
    "gymnasium.wrappers.GrayScaleObservation": "gymnasium.wrappers.GrayscaleObservation",
    "gymnasium.wrappers.AutoResetWrapper": "gymnasium.wrappers.Autoreset",
    "gymnasium.vector.make": "gymnasium.make_vec(id, num_envs=…)",
}


@dataclass(frozen=True, kw_only=True)
class LibraryNameGone(Rule):
    """The program uses a name that this version of a library lacks.

    ## What it checks
    A name was not found in a module of an installed library.

    ## Why it matters
    The program was written for another version of it.

    ## Likely causes
    1. The name was removed or moved: `np.bool8`, `np.float`, `gym.logger.set_level`. Confirm: look it up in the notes
       of the release.
    2. A file of your own bears the library's name and hides it. Confirm: print the module's `__file__`.

    ## What to try first
    Print the version of the library that the message names, and look for the name in its notes.

    ## When it is fine
    Never: the program has ended.

    ## References
    NumPy 2.0, *Migration guide*.
    """

    code: ClassVar[str] = "INS402"
    name: ClassVar[str] = "library-name-gone"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return _named(evidence) is not None and own_import(evidence) is None

    def check(self, evidence: Crash) -> Iterator[Finding]:
        named = _named(evidence)
        if named is None:
            return
        module, name, instead = named
        yield self.finding(
            f"the library {module} has no {name}: it is gone, or was never there",
            where=evidence.where,
            seen=evidence.said + (f", in `{evidence.at.source}`" if evidence.at else ""),
            expected="a version of the library that has it",
            help=f"write {instead}"
            if instead
            else f"look {name} up in the notes of {module}, or install the version that the program was written for",
            confidence=0.9,
        )


def _named(crash: Crash) -> tuple[str, str, str] | None:
    """The module, the name, and what to write instead where that is known."""
    if found := re.search(r"`(np\.\w+)` was removed in the NumPy 2\.0 release\. (?:Use `([^`]+)`)?", crash.message):
        return "numpy", found[1], found[2] or _INSTEAD.get(found[1].replace("np.", "numpy."), "")
    if found := re.search(r"'(\w+)' has been renamed with `([\w.]+)`", crash.message):
        return "gymnasium", found[1], f"gymnasium.{found[2]}"
    if found := re.search(r"module '([\w.]+)' has no attribute '(\w+)'", crash.message):
        module, name = found[1], found[2]
    elif found := re.search(r"cannot import name '(\w+)' from '([\w.]+)'", crash.message):
        module, name = found[2], found[1]
    else:
        return None
    if module.split(".")[0] not in _LIBRARIES:
        return None
    return module, name, _INSTEAD.get(f"{module}.{name}", "")
