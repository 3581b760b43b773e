"""A package is installed more than once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.machine import Machine
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class PackageInstalledTwice(Rule):
    """A package is installed more than once.

    ## What it checks
    Copies of one distribution in several folders of the path, with different versions; and several distributions that
    bring the same module, as those of OpenCV.

    ## Why it matters
    Which one is imported depends on the order of the path, and of files that overwrite one another on the order of
    installation.

    ## Likely causes
    1. PYTHONPATH, or the user's own site-packages, comes before the environment. Confirm: print `sys.path`.
    2. Two libraries ask for different distributions of OpenCV. Confirm: `pip list` names both.

    ## What to try first
    Uninstall all copies of it, and install it once.

    ## When it is fine
    Where the first on the path is the one that you want.

    ## References
    Python, *site: user site-packages*; opencv-python, *Installation and usage*.
    """

    code: ClassVar[str] = "INS721"
    name: ClassVar[str] = "package-installed-twice"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "Machine"

    def check(self, evidence: Machine) -> Iterator[Finding]:
        for each in evidence.packages:
            others = [copy for copy in each.hidden if not copy.startswith(f"{each.version} ")]
            if others:
                yield self.finding(
                    f"{each.name} is installed more than once, in different versions",
                    seen=f"{each.version} in {each.folder}, which is imported; {'; '.join(others)}",
                    expected="one copy",
                    help="uninstall the one that is not wanted; PYTHONPATH and `python -m site` tell why it is found",
                    confidence=0.8,
                )
        cv2 = [each for each in evidence.packages if each.name.startswith("opencv")]
        if len(cv2) > 1:
            yield self.finding(
                "several distributions of OpenCV overwrite one another's files",
                seen=", ".join(f"{each.name} {each.version}" for each in cv2),
                expected="one of them",
                help=f"pip uninstall {' '.join(each.name for each in cv2)}, then pip install opencv-python-headless",
                confidence=0.8,
            )
