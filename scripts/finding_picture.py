"""Draws docs/images/finding.svg, the picture in the README: the demo's broken PPO, trained, watched and diagnosed."""

from __future__ import annotations

import io
import re
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme

from rldebug import demo
from rldebug.evidence.learning import learning
from rldebug.evidence.run import read_run
from rldebug.render.terminal import render

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "finding.svg"
WIDTH = 100
THEME = TerminalTheme(
    (24, 27, 32),
    (222, 226, 230),
    [
        (60, 64, 70), (240, 98, 104), (120, 200, 130), (232, 182, 86),
        (110, 168, 240), (198, 146, 232), (100, 200, 210), (222, 226, 230),
    ],
)  # fmt: skip


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        report, path = demo.train(planted=True, run="demo-broken", folder=Path(folder), tick=lambda: None)
        curve = learning(read_run(path))
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, highlight=False)
    console.print("[green]$[/] rldebug report demo-broken")
    console.print(render(report, curve=curve, width=WIDTH), end="")
    # No web font: a picture in a README may not fetch anything, and every machine has a monospaced one.
    picture = re.sub(r"@font-face \{.*?\}\s*", "", console.export_svg(title="rldebug", theme=THEME), flags=re.DOTALL)
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text(picture, encoding="utf-8")
    print(f"wrote {PICTURE}")


if __name__ == "__main__":
    main()
