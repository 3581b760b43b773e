"""Draws docs/images/profile-terminal.svg: a PPO that is slow for a known reason, under `rldebug profile`.

python scripts/profile_picture.py [PAGE.html]     # the page of the same run, to be photographed
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from finding_picture import THEME
from rich.console import Console

from rldebug.config import Config
from rldebug.evidence.timings.reading import read_timing
from rldebug.render import profile, terminal
from rldebug.timed import judged

HOME = Path(__file__).parents[1]
PROGRAM = HOME / "tests" / "planted_slow" / "advantages_in_python_loop.py"
PICTURE = HOME / "docs" / "images" / "profile-terminal.svg"
WIDTH = 104


def main() -> None:
    page = [f"--html={Path(each).absolute()}" for each in sys.argv[1:2]]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # places are shown from here
        shutil.copy(PROGRAM, "train.py")
        subprocess.run([sys.executable, "-m", "rldebug", "profile", "--quiet", *page, "train.py"], check=True)
        timing = read_timing(Path(".rldebug/runs/train"))
        assert timing is not None
        report = judged(timing, Config(), [], {})
        console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, highlight=False)
        console.print("[green]$[/] rldebug profile train.py")
        console.print(profile.render(timing, report, WIDTH), end="", soft_wrap=True)
        console.print(terminal.render(report, width=WIDTH), end="")
    picture = re.sub(r"@font-face \{.*?\}\s*", "", console.export_svg(title="rldebug", theme=THEME), flags=re.DOTALL)
    PICTURE.write_text(picture, encoding="utf-8")
    print(f"wrote {PICTURE}")


if __name__ == "__main__":
    main()
