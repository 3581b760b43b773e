"""Does the dashboard stand a run of five million readings? Prints a table; exits 1 where a bar is missed.

    python bench/dashboard.py                     # a folder of 5,000,000 lines, and one of as many numbers
    python bench/dashboard.py --readings 100000   # smaller ones
    python bench/dashboard.py --no-page           # the reader alone, without a server and a browser

One reading is a spike and one is NaN. Bars: a coarse picture of the whole run within half a second of opening it, the
first paint of the page within two seconds of asking for it, no more than 300 MB of memory, and neither the spike nor
the NaN lost in what is drawn.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import json
import math
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

READINGS, GLIMPSE, PAINT, MEMORY = 5_000_000, 0.5, 2.0, 300.0
SPIKE, NAN = 0.731, 0.377  # where they are, as a share of the run
NAME = "policy/kl"
Row = tuple[str, float, float | None, str]  # what, how much, at most, unit


def write_run(folder: Path, lines: int, numbers: int) -> None:
    """A run folder with that many lines of that many numbers."""
    folder.mkdir(parents=True)
    meta = {"format": 1, "name": folder.name, "state": "running", "seed": 1, "updates": lines, "env_steps": 8 * lines}
    (folder / "run.json").write_text(json.dumps(meta), encoding="utf-8")
    more = "".join(f',"user/number{i}":0.{i:03d}123456' for i in range(2, numbers))
    line = f'{{"update":%d,"env_step":%d,"seconds":%.3f,"numbers":{{"loss/value":%.9g,"{NAME}":%s{more}}}}}\n'
    odd = {int(SPIKE * lines): "1.5", int(NAN * lines): '"nan"'}
    ripple = [f"{0.01 + 0.005 * math.sin(i / 7):.9g}" for i in range(1000)]
    with (folder / "readings.jsonl").open("w", encoding="utf-8") as file:
        for start in range(0, lines, 10_000):
            some = range(start, min(start + 10_000, lines))
            file.writelines(
                [line % (i, 8 * i, i / 1000, math.exp(-i / lines), odd.get(i) or ripple[i % 1000]) for i in some]
            )


def read(folder: Path) -> dict[str, Any]:
    """What a process that does nothing else needs to read the folder; run in a fresh one."""
    from rldebug.evidence.tail import Tail

    began, before = time.perf_counter(), memory()
    tail = Tail(folder)
    tail.read()
    coarse, glimpse = tail.run(), time.perf_counter() - began
    end = int(coarse[NAME].update[-1])
    while not tail.done:
        tail.read()
    whole = time.perf_counter() - began
    series = tail.run()[NAME]
    kept = {"spike": series.max() > 1, "NaN": any(map(math.isnan, series.value)), "end": end == tail.lines - 1}
    return {"glimpse": glimpse, "whole": whole, "memory": memory(), "before": before, "kept": kept, "lines": tail.lines}


def memory() -> float:
    """MB, at most so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def reader(folder: Path) -> list[Row]:
    told = subprocess.run([sys.executable, __file__, "--read", str(folder)], check=True, stdout=subprocess.PIPE)
    found = json.loads(told.stdout)
    lost = [name for name, kept in found["kept"].items() if not kept]
    return [
        ("reader: coarse picture", found["glimpse"], GLIMPSE, "s"),
        ("reader: read to the end", found["whole"], None, "s"),
        ("reader: lines per second", found["lines"] / found["whole"], None, ""),
        ("reader: memory", found["memory"], MEMORY, "MB"),
        (f"reader: lost of spike, NaN, end {lost or ''}", len(lost), 0, ""),
    ]


# ── the page ────────────────────────────────────────────────────────────────────────────────────────────────────────

PAINTED = "performance.getEntriesByName('first-contentful-paint').map(each => each.startTime / 1000)[0]"
HIGHEST = """Math.max(...[...document.querySelectorAll("[data-drawn]")].flatMap(
    chart => chart.data.flatMap(trace => (trace.y || []).filter(each => each !== null))), -1)"""
INTO_VIEW = """document.querySelectorAll("[data-chart]:not([data-drawn])").forEach(each => rldebug.show(each))"""


def page(runs: Path) -> list[Row]:
    """A server on the folder, and a browser that opens its page."""
    from playwright.sync_api import sync_playwright

    command = [sys.executable, "-m", "rldebug", "dashboard", str(runs), "--no-open", "--port", "0"]
    began = time.perf_counter()
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        url = server.stdout.readline().strip()
        listening = time.perf_counter() - began
        with sync_playwright() as driver:
            chromium = os.environ.get("RLDEBUG_CHROMIUM") or shutil.which("chromium")
            browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            view = browser.new_page(viewport={"width": 1280, "height": 900})
            began = time.perf_counter()
            view.goto(url, wait_until="commit")
            while (
                painted := view.evaluate(PAINTED)
            ) is None:  # waiting for it would be an eval, which the page forbids
                time.sleep(0.05)
            view.wait_for_selector("[data-drawn]", state="attached", timeout=60_000)
            drawn = time.perf_counter() - began
            early = resident(server.pid, "VmRSS")
            spiked = None
            while spiked is None and time.perf_counter() - began < 200:
                view.evaluate(INTO_VIEW)
                if view.evaluate(HIGHEST) > 1.4:
                    spiked = time.perf_counter() - began
                time.sleep(0.5)
            browser.close()
        children = {pid: resident(pid, "VmHWM") for pid in children_of(server.pid)}
        return [
            ("page: address printed", listening, None, "s"),
            ("page: first contentful paint", painted, PAINT, "s"),
            ("page: first chart drawn", drawn, None, "s"),
            ("page: spike drawn", spiked if spiked is not None else math.inf, 200, "s"),
            ("page: memory of the server, at first", early, MEMORY, "MB"),
            ("page: memory of the server, at most", resident(server.pid, "VmHWM"), MEMORY, "MB"),
            *((f"page: memory of child {pid}, at most", each, None, "MB") for pid, each in children.items()),
        ]
    finally:
        server.terminate()
        server.wait(20)


def resident(pid: int, which: str) -> float:
    """MB of a process, by the kernel."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith(f"{which}:"):
            return int(line.split()[1]) / 1024
    return math.nan


def children_of(pid: int) -> list[int]:
    own = [
        int(each) for task in Path(f"/proc/{pid}/task").iterdir() for each in (task / "children").read_text().split()
    ]
    return [each for child in own for each in (child, *children_of(child))]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--readings", type=int, default=READINGS, help="of each run (default: %(default)s)")
    parser.add_argument("--no-page", action="store_true", help="the reader alone")
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    if wanted.read:
        print(json.dumps(read(wanted.read)))
        return 0
    missed = 0
    for lines, numbers in ((wanted.readings, 2), (wanted.readings // 50, 50)):
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made) / "runs" / "long"
            write_run(folder, lines, numbers)
            size = (folder / "readings.jsonl").stat().st_size
            print(f"{f'{lines:,} lines of {numbers} numbers, {size / 1e6:,.0f} MB':46}{'':12}{'bar':>10}", flush=True)
            rows = [*reader(folder), *([] if wanted.no_page else page(folder.parent))]
            for what, amount, bar, unit in rows:
                over = bar is not None and amount > bar
                missed += over
                at_most = "" if bar is None else f"{bar:,.6g}"
                print(f"  {what:44}{amount:12,.2f}{at_most:>10} {unit}{'  missed' if over else ''}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
