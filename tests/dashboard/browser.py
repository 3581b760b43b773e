"""A real browser, a real server, and runs that were really recorded."""

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager

import pytest

CHROMIUM = os.environ.get("RLDEBUG_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: `make test` installs it on Debian and Ubuntu")
ONE_THREAD = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


@contextmanager
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        opened = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield opened
        finally:
            opened.close()


@contextmanager
def page(opened, url, width=1280, height=900, **more):
    """A page that complains: whatever the browser's console says is an error of the test."""
    said = []
    context = opened.new_context(viewport={"width": width, "height": height}, **more)
    shown = context.new_page()
    shown.set_default_timeout(60_000)  # other programs may be running
    watching = [True]
    shown.on("console", lambda each: watching and said.append(f"{each.type}: {each.text}"))
    shown.on("pageerror", lambda each: said.append(str(each)))
    shown.on("dialog", lambda each: (said.append(f"dialog: {each.message}"), each.dismiss()))
    shown.said, shown.unwatch = said, watching.clear
    try:
        shown.goto(url)
        yield shown
    finally:
        context.close()
    assert said == []


@contextmanager
def served(runs, *options):
    """The address of a dashboard, and its process."""
    words = [sys.executable, "-m", "rldebug", "dashboard", str(runs), "--no-open", "--port", "0", *options]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=ONE_THREAD) as server:
        try:
            yield server.stdout.readline().strip(), server
        finally:
            server.terminate()


@contextmanager
def program(script, runs, name, *arguments):
    """A script under `rldebug run`, while it goes on."""
    words = [sys.executable, "-m", "rldebug", "run", "--record-only", "--quiet", "--folder", str(runs), "--name", name]
    with subprocess.Popen([*words, str(script), *arguments], env=ONE_THREAD, stdout=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.terminate()
