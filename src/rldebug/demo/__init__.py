"""`rldebug demo`: a small PPO with one wrong sign, and its healthy twin, run as they are by `rldebug run`.

The program is lights.py: an ordinary script that knows nothing of rldebug.
"""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from rldebug.config import Config
from rldebug.evidence.folder import RUNS
from rldebug.exhibit import exhibited
from rldebug.finding import Report
from rldebug.record import new_run_folder
from rldebug.recorded import Recorded, as_shown, examine, recorded
from rldebug.render.json import write_json
from rldebug.render.page import write_page
from rldebug.render.terminal import console, print_report

PLANTED = "advantage-sign-flipped"
PROGRAM = Path(__file__).with_name("lights.py")
LINE = "        b_return = b_advantage + b_value\n"
BUG = "        b_advantage = -b_advantage\n"  # V(s) - return, where it should be return - V(s)


class DemoError(Exception):
    """The demo's own program did not run; says what it said last."""


def show(html: Path, json: str | None = None, folder: Path = RUNS) -> int:
    """Run both, print what was found, write the page. 0 where the bug was named and the twin is clean, else 1."""
    say = console(stderr=json == "-")
    with console(stderr=True).status("rldebug run lights.py: a PPO with a planted bug, and its healthy twin"):
        twin, twin_seen = watch("demo-healthy", folder)
        sick, sick_seen = watch("demo-broken", folder, planted=True)
    assert twin_seen.run.path is not None and sick_seen.run.path is not None

    say.print("[bold]rldebug run lights.py[/], with a planted bug: its advantages have the wrong sign.\n")
    print_report(as_shown(sick), run=sick_seen.run, to_stdout=json != "-")
    say.print("\n[bold]rldebug run lights.py[/], its healthy twin: the same program without that line.\n")
    print_report(as_shown(twin), run=twin_seen.run, to_stdout=json != "-")
    wrong = complaints(sick, twin)
    for each in wrong:
        print(f"rldebug demo: {each}", file=sys.stderr)
    if not wrong:
        say.print(
            f"\nThe planted bug was named: {sick.roots[0].code} {PLANTED}. The healthy twin is clean.", style="bold"
        )
    write_page(exhibited(sick, sick_seen), html)
    say.print(f"The page of the broken run, to open in a browser: {html}", markup=False)
    names = f"{twin_seen.run.path.name} {sick_seen.run.path.name}"
    say.print(f"Next: rldebug explain {PLANTED}\n      rldebug diff {names}", style="dim")
    if json is not None:
        write_json(dataclasses.replace(sick, command="demo", exit=1 if wrong else 0), json)
    return 1 if wrong else 0


def watch(name: str, folder: Path, *, planted: bool = False) -> tuple[Report, Recorded]:
    """The program under `rldebug run`, in a process of its own, and what is to be said about it."""
    text = PROGRAM.read_text(encoding="utf-8")
    if planted:
        assert text.count(LINE) == 1
        text = text.replace(LINE, LINE + BUG)
    place = new_run_folder(folder.absolute(), name)
    place.rmdir()  # its name is free: the run makes it again
    with tempfile.TemporaryDirectory(prefix="rldebug-demo-") as made:
        script = Path(made) / PROGRAM.name
        script.write_text(text, encoding="utf-8")
        words = ["run", "--record-only", "--quiet", "--folder", str(place.parent), "--name", place.name, script.name]
        root = str(Path(__file__).parents[2])
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}  # networks this small are fastest on one thread
        environment["PYTHONPATH"] = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
        done = subprocess.run(
            [sys.executable, "-m", "rldebug", *words],
            cwd=made,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode != 0:
        raise DemoError(f"the program of the demo failed: {(done.stderr or done.stdout).strip()[-400:]}")
    seen = recorded(place)
    return examine(seen, Config(), "run"), seen


def complaints(sick: Report, twin: Report) -> list[str]:
    """What the demo claims and did not see: that the first root finding names the bug, and that the twin is clean."""
    wrong = []
    first = sick.roots[0].name if sick.roots else "nothing"
    if first != PLANTED:
        skipped = next((reason for code, reason in sick.skipped.items() if code == "ADV003"), None)
        wrong.append(f"the planted bug, {PLANTED}, was not named: found {first}" + (f" ({skipped})" if skipped else ""))
    loud = [f"{each.code} {each.name}" for each in twin.findings if each.severity != "note"]
    if loud:
        wrong.append(f"the healthy twin is not clean: {', '.join(loud)}")
    return wrong
