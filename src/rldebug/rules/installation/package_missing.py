"""A package that the program needs is not installed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.imports import own_import
from rldebug.evidence.crashes.signs import unpickled
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule

# What is imported -> what is installed, where the two differ.
_INSTALLED_AS = {
    "cv2": "opencv-python",
    "PIL": "pillow",
    "yaml": "pyyaml",
    "Box2D": '"gymnasium[box2d]"',
    "mujoco": '"gymnasium[mujoco]"',
    "pygame": '"gymnasium[classic-control]"',
    "ale_py": "ale-py",
    "stable_baselines3": "stable-baselines3",
    "sb3_contrib": "sb3-contrib",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "gym": "gymnasium",
}
_NAMESPACES = {"ALE": "ale-py", "minigrid": "minigrid", "dm_control": '"shimmy[dm-control]"'}
_OLD_MUJOCO = ("mujoco_py", "mujoco-py")


@dataclass(frozen=True, kw_only=True)
class PackageMissing(Rule):
    """A package that the program needs is not installed.

    ## What it checks
    An import failed, or an environment was asked for whose package is not there.

    ## Why it matters
    The program cannot begin.

    ## Likely causes
    1. The package is not installed in this Python. Confirm: `python -m pip show` its name.
    2. Another Python runs than the one it was installed for. Confirm: print `sys.executable`.
    3. The environments of the package are not registered. Confirm: import the package first, and call
       `gymnasium.register_envs` with it.

    ## What to try first
    Install what the message names, with the Python that runs the program.

    ## When it is fine
    Never: the program has ended.

    ## References
    Gymnasium, *Installation*.
    """

    code: ClassVar[str] = "INS401"
    name: ClassVar[str] = "package-missing"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        if unpickled(evidence) or own_import(evidence) is not None:
            return False
        return evidence.is_a("ModuleNotFoundError", "DependencyNotInstalled", "NamespaceNotFound") or evidence.says(
            "Have you installed the proper package",
            "(is|are|package) not installed,? (run|please|try|you can)",
            "^To use the gym compatibility environments, run",
            "Please install .* (to|in order to) use",
            "not installed, (therefore|so) you cannot",
            "Unable to find the game|ROM is missing for",
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        message, help = _told(evidence)
        yield self.finding(
            message,
            where=evidence.where,
            seen=evidence.said,
            expected="everything that is imported to be installed",
            help=help,
            confidence=0.9,
        )


def _told(crash: Crash) -> tuple[str, str]:
    if found := re.search(r"Namespace (\S+) not found", crash.message):
        package = _NAMESPACES.get(found[1], found[1])
        module = package.replace("-", "_").strip('"')
        return (
            f"no environments are registered under {found[1]}/",
            f"python -m pip install {package}; then import {module} and gymnasium.register_envs({module}) before make()"
            if "[" not in package
            else f"python -m pip install {package}, and import the package before make()",
        )
    if found := re.search(r"Unable to find the game \"(\w+)\"|ROM is missing for (\w+)", crash.message):
        return (
            f"the game {found[1] or found[2]} itself is missing",
            "python -m pip install --upgrade ale-py, which brings the games since 0.9",
        )
    if commands := re.findall(r"`(?:python -m )?(pip install [^`]+)`", crash.message):
        what = re.match(r"([\w.()+ -]+?) (?:is|are|package)? ?not installed", crash.message)
        return (
            f"the package {what[1]} is not installed" if what else "a package is not installed",
            ", then ".join(f"python -m {each}" for each in commands),
        )
    if found := re.search(r"No module named '([\w.]+)'", crash.message):
        top = found[1].split(".")[0]
        if top in _OLD_MUJOCO:
            return (
                "mujoco_py is not installed, and is no longer needed",
                'environments of version v4 and later use mujoco itself: python -m pip install "gymnasium[mujoco]"',
            )
        own = "" if "." not in found[1] else "; is it a file of yours? Then begin in the folder that holds it"
        return f"the package {found[1]} is not installed", f"python -m pip install {_INSTALLED_AS.get(top, top)}{own}"
    return "a package is missing", "install what the message names, with the Python that runs the program"
