"""Every example runs, and what the README shows of it is what runs."""

import importlib.util
import inspect
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from rldebug.finding import Report

ROOT = Path(__file__).parents[1]
TUTORIAL = ROOT / "examples" / "ppo.py"  # knows nothing of rldebug: see commands/test_tutorial.py
EXAMPLES = sorted(set((ROOT / "examples").glob("*.py")) - {TUTORIAL})


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda each: each.stem)
def test_it_runs_and_nothing_breaks(file):
    spec = importlib.util.spec_from_file_location(f"example_{file.stem}", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    short = {"episodes": 20} if "episodes" in inspect.signature(module.main).parameters else {}
    ended = module.main(**short)
    report = ended if isinstance(ended, Report) else ended.close()
    assert not report.broken
    assert report.clean, report.findings
    assert report.checked


def test_it_starts_as_a_script():
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    code = f"import runpy; m = runpy.run_path({str(EXAMPLES[0])!r}); m['main'](episodes=2)"
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, capture_output=True)


def test_the_readme_shows_the_example_that_runs():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    source = (ROOT / "examples" / "cartpole.py").read_text(encoding="utf-8")
    start = source.index("    with rldebug.watch(")
    shown = textwrap.dedent(source[start : source.index("    return dbg")]).strip()
    assert shown in readme
