"""Takes the pictures of the dashboard in docs/images: python scripts/dashboard_pictures.py [VIEW …]

Runs the demo, a program that plays on pixels (pictured/falling.py) and a few probes, opens the dashboard on them in
headless Chromium, and takes a picture of each view. Takes two minutes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
IMAGES = HERE.parent / "docs" / "images"
RLDEBUG = [sys.executable, "-m", "rldebug"]
BROKEN, BOTH, PIXELS = "run=demo-broken", "run=demo-broken&with=demo-healthy", "run=falling"

# name: which run, which section stands on top (none: the beginning), width, height
VIEWS = {
    "dashboard": (BROKEN, "", 1280, 860),
    "dashboard-narrow": (BROKEN, "", 390, 844),
    "dashboard-finding": (BROKEN, "ADV003", 1280, 900),
    "dashboard-runs": (BOTH, "comparison", 1280, 960),
    "dashboard-learning": (BOTH, "learning", 1280, 560),
    "dashboard-trace": ("run=demo-healthy", "trace", 1280, 420),
    "dashboard-bands": ("run=demo-healthy", "policy", 1280, 620),
    "dashboard-gradient-flow": (PIXELS, "gradient-flow", 1280, 480),
    "dashboard-distributions": (PIXELS, "distributions", 1280, 640),
    "dashboard-time": (PIXELS, "time", 1280, 480),
    "dashboard-graph": (BROKEN, "graph", 1280, 760),
    "dashboard-hyperparameters": (BROKEN, "hyperparameters", 1280, 400),
    "dashboard-frames": (PIXELS, "frames", 1280, 620),
    "dashboard-clips": (PIXELS, "clips", 1280, 520),
    "dashboard-probes": (BROKEN, "probes", 1280, 420),
}


def main(wanted: list[str]) -> None:
    unknown = set(wanted) - VIEWS.keys()
    if unknown:
        sys.exit(f"no view called {', '.join(unknown)}: expected some of {', '.join(VIEWS)}")
    os.environ["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        record(Path(folder))
        photograph(Path(folder), wanted or list(VIEWS))


def record(folder: Path) -> None:
    quiet = {"cwd": folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    options = ["--profile", "--frames", "100", "--render-toggle", "--record-only", "--name", "falling"]
    with subprocess.Popen([*RLDEBUG, "run", *options, str(HERE / "pictured" / "falling.py")], **quiet) as program:
        run = folder / ".rldebug" / "runs" / "falling"
        while program.poll() is None and not (run / "run.json").exists():
            time.sleep(0.1)
        while program.poll() is None and not (run / "clips").exists():
            (run / "toggle-render").touch()
            time.sleep(5)
    subprocess.run([*RLDEBUG, "demo"], check=True, **quiet)
    subprocess.run([*RLDEBUG, "probe", "algo:ppo", "--first", "6", "--seeds", "1"], check=False, **quiet)


def photograph(folder: Path, views: list[str]) -> None:
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("RLDEBUG_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    words = [*RLDEBUG, "dashboard", "--no-open", "--port", "0"]
    with subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, text=True) as server, sync_playwright() as play:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        try:
            for name in views:
                query, section, width, height = VIEWS[name]
                page = browser.new_page(viewport={"width": width, "height": height}, color_scheme="light")
                page.goto(f"{url}&{query}")
                page.locator("#diagnosis .verdict b").wait_for(timeout=90_000)
                if section:
                    page.locator(f"#{section}").wait_for(state="attached", timeout=30_000)
                    page.evaluate("(id) => document.getElementById(id).scrollIntoView()", section)
                    page.wait_for_timeout(1500)  # charts are drawn, and push what is below them
                    page.evaluate("(id) => document.getElementById(id).scrollIntoView()", section)
                page.wait_for_timeout(1500)
                page.screenshot(path=IMAGES / f"{name}.png")
                page.close()
                print(f"docs/images/{name}.png")
        finally:  # also where a section is missing
            server.kill()
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
