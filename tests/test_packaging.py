"""What is packed: every file of the package is in the wheel, all that is needed to work on it in the sdist."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from rldebug import __version__

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "rldebug"


def packed(kind: str) -> set[str]:
    """The files that hatchling would pack; nothing is built."""
    from hatchling.builders.sdist import SdistBuilder
    from hatchling.builders.wheel import WheelBuilder

    builder = {"wheel": WheelBuilder, "sdist": SdistBuilder}[kind](str(ROOT))
    return {each.distribution_path.replace(os.sep, "/") for each in builder.recurse_included_files()}


def in_the_tree(folder: Path) -> set[str]:
    """Files of the source tree, but for what Python and numba leave there."""
    found = (each for each in folder.rglob("*") if each.is_file() and "__pycache__" not in each.parts)
    return {each.relative_to(folder.parent).as_posix() for each in found if each.suffix not in (".pyc", ".nbi", ".nbc")}


def test_the_wheel_holds_every_file_of_the_package_and_no_other():
    files = packed("wheel")
    assert files == in_the_tree(PACKAGE)
    assert {Path(each).suffix for each in files} >= {".py", ".css", ".js", ".html", ".json", ".toml", ".typed"}


@pytest.mark.parametrize(
    "file", ["report.schema.json", "py.typed", "render/cell.css", "render/page.css", "render/page.js"]
)
def test_what_is_read_at_run_time_is_in_the_wheel(file):
    assert f"rldebug/{file}" in packed("wheel")


def test_the_sdist_holds_what_is_needed_to_test_it_and_to_build_its_docs():
    files = packed("sdist")
    tracked = {
        f"{folder}/{each.split('/', 1)[1]}"
        for folder in ("tests", "examples", "scripts")
        for each in in_the_tree(ROOT / folder)
    }
    assert tracked - files == set()
    for each in (
        "Makefile",
        "constraints.txt",
        "mkdocs.yml",
        "README.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
    ):
        assert each in files
    for each in ("CITATION.cff", "LICENSE", ".pre-commit-hooks.yaml", "action.yml", ".ci/run", "docs/index.md"):
        assert each in files
    assert any(each.startswith("bench/bugs/corpus/") for each in files)
    assert not [
        each for each in files if "/.rldebug/" in each or each.endswith(".pyc") or each.startswith("docs/catalogue")
    ]


def test_one_version_everywhere():
    written = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)[1]
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)[1]
    assert written == cited == __version__
    assert f"## {written}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_citation_is_one():
    import yaml

    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "type", "authors", "license", "version"} <= set(cited)
    assert cited["license"] == "Apache-2.0"
    assert not {"doi", "url", "repository-code"} & set(cited)  # none is known yet


@pytest.mark.integration
def test_a_wheel_is_built_and_says_what_it_is(tmp_path):
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-build-isolation",
        "--no-deps",
        "-w",
        str(tmp_path),
        str(ROOT),
    ]
    subprocess.run(command, check=True, timeout=120)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as opened:
        names = set(opened.namelist())
        (about,) = [each for each in names if each.endswith(".dist-info/METADATA")]
        points = opened.read(about.replace("METADATA", "entry_points.txt")).decode()
        text = opened.read(about).decode()
    assert packed("wheel") <= names
    assert "rldebug = rldebug.commands:main" in points
    assert "rldebug = rldebug.pytest_plugin" in points
    assert "License-Expression: Apache-2.0" in text
    assert any(each.endswith("licenses/LICENSE") for each in names)


@pytest.mark.slow
def test_the_wheel_in_an_empty_environment(tmp_path):
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-build-isolation",
        "--no-deps",
        "-w",
        str(tmp_path),
        str(ROOT),
    ]
    subprocess.run(command, check=True, timeout=120)
    (wheel,) = tmp_path.glob("*.whl")
    environment = {**os.environ, "PYTHON": sys.executable}
    done = subprocess.run(
        ["bash", str(ROOT / "scripts" / "smoke_wheel.sh"), str(wheel)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the wheel works" in done.stdout
