"""Programs as people write them, each with one mistake that can be read from its text, and how the line should read.

The line ends with `# planted: NAME`, or `# planted: NAME | OTHER` where two rules may both name it. The lines after it
that begin with `# = ` are what stands there in the healthy program; where there are none, nothing does. Lines elsewhere
that begin with `# + ` are in the healthy program only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_PLANTED = re.compile(r"^(?P<code>.*?)\s*# planted: (?P<names>[a-z0-9| -]+)$")
_HEALTHY = re.compile(r"^(\s*)# ?[=+] ?(.*)$")


@dataclass(frozen=True)
class Planted:
    file: Path
    names: tuple[str, ...]  # of rules that may name it, the first being meant
    line: int
    text: str
    healthy: str


def programs() -> list[Planted]:
    return [planted(file) for file in sorted(Path(__file__).parent.glob("[a-z]*.py"))]


def planted(file: Path) -> Planted:
    healthy, found, line = [], [], 0
    rows = file.read_text(encoding="utf-8").splitlines()
    for place, row in enumerate(rows, 1):
        mark, instead = _PLANTED.match(row), _HEALTHY.match(row)
        if mark:
            found += [each.strip() for each in mark["names"].split("|")]
            line = place
        elif instead:
            healthy.append(instead[1] + instead[2])
        else:
            healthy.append(row)
    assert found, f"{file.name}: no line says what is planted"
    return Planted(file, tuple(found), line, "\n".join(rows), "\n".join(healthy))
