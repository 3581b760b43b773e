"""Training programs as people write them, each slow for one reason, and the same with the advice applied.

The first lines of a slow one say what is to be named: `# planted: CODE NAME`, and `# part: …`, the part of the training
loop that its time shows in. `# threads: its own` means that no variable may limit the threads of torch. The line that
is to blame ends with `# here`. Beside `NAME.py` lies `NAME__mended.py`, which does the same work. Both print
`seconds=…`, what their training took. In `healthy` lie programs that are as fast as such programs are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
HEALTHY = tuple(sorted((FOLDER / "healthy").glob("*.py")))

_HEAD = re.compile(
    r"# planted: (?P<code>PRF\d{3}) (?P<name>[a-z0-9-]+)\n# part: (?P<part>[a-z ]+)\n(?P<own># threads: its own\n)?"
)


@dataclass(frozen=True)
class Slow:
    file: Path
    mended: Path
    code: str
    name: str
    part: str
    line: int
    own_threads: bool


def programs() -> list[Slow]:
    return [slow(file) for file in sorted(FOLDER.glob("[a-z]*.py")) if not file.stem.endswith("__mended")]


def slow(file: Path) -> Slow:
    text = file.read_text(encoding="utf-8")
    head = _HEAD.match(text)
    assert head, f"{file.name}: its first lines do not say what is planted"
    lines = [place for place, row in enumerate(text.splitlines(), 1) if row.endswith("# here")]
    assert len(lines) == 1, f"{file.name}: {len(lines)} lines end with `# here`"
    mended = file.with_name(f"{file.stem}__mended.py")
    return Slow(file, mended, head["code"], head["name"], head["part"], lines[0], bool(head["own"]))


def environment(given: dict[str, str], own_threads: bool = False) -> dict[str, str]:
    """Of the processes: one thread each, but for those that are about threads."""
    limits = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    rest = {name: value for name, value in given.items() if name not in limits}
    return rest if own_threads else rest | dict.fromkeys(limits, "1")
