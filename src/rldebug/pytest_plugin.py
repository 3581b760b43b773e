"""For pytest: tests that train are watched, and `--rldebug-write-test gae=mypkg.ppo:compute_gae` writes a test.

    @pytest.mark.rldebug(fail_on="warning", ignore=["entropy-collapse"])  # fails where something is found
    def test_ppo_learns(): ...

    def test_ppo_learns(rldebug_run): ...     # the same, and rldebug_run.report() is the diagnosis so far

    pytest --rldebug                          # every test that trains; the findings are listed at the end

Loaded with every pytest that has rldebug beside it: nothing is imported here until it is asked for.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from rldebug.attach import Attached
    from rldebug.finding import Report

FILE = "tests/test_components.py"
MARK = "@pytest.mark.rldebug"
_SEVERITIES = ("error", "warning", "note")
_DOC = (
    "rldebug(fail_on='warning', select=(), ignore=()): watch this test, and fail it with what rldebug finds; "
    "fail_on: error, warning, note or None; select, ignore: rules, by code or name"
)


@dataclass(frozen=True)
class Wish:
    fail_on: str | None = "warning"
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()


@dataclass
class Watched:
    """A test that is watched: from its set-up to the end of its call."""

    dbg: Attached
    wish: Wish
    report: Report | None = None
    trained: bool = False
    blamed: bool = False  # it fails by what was found alone


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("rldebug", "training that is watched; components beside their references")
    group.addoption(
        "--rldebug",
        action="store_true",
        help="watch every test that trains, and list what is found at the end; no test fails by it",
    )
    group.addoption(
        "--rldebug-write-test",
        action="append",
        default=[],
        metavar="COMPONENT=TARGET",
        help="write a test that verifies it, such as gae=mypkg.ppo:compute_gae, and stop; may be repeated",
    )
    group.addoption("--rldebug-test-file", default=FILE, metavar="FILE", help=f"where to (default: {FILE})")
    group.addoption(
        "--rldebug-map",
        action="append",
        default=[],
        metavar="WHAT=ARGUMENT",
        help="what an argument of the target is, such as reward=r; may be repeated",
    )


def pytest_configure(config: Any) -> None:
    config.addinivalue_line("markers", _DOC)


def pytest_cmdline_main(config: Any) -> int | None:
    wanted = config.getoption("rldebug_write_test")
    if not wanted:
        return None
    from rldebug.target import TargetError
    from rldebug.verify import mapping, write_test_file

    try:
        given = mapping(config.getoption("rldebug_map"))
        for each in wanted:
            component, sign, target = each.partition("=")
            if not sign or not component.strip() or not target.strip():
                raise TargetError(f"--rldebug-write-test {each}: expected COMPONENT=TARGET, such as gae=ppo.py:gae")
            file = Path(config.getoption("rldebug_test_file"))
            print(write_test_file(component.strip(), target.strip(), given, file))
    except TargetError as error:
        raise pytest.UsageError(str(error)) from error
    return 0


@pytest.fixture
def rldebug_run(request: Any) -> Attached:
    """This test is watched as `rldebug run` would: `.report()` is the diagnosis so far, `.path` the run folder."""
    watched: Watched | None = getattr(request.node, "rldebug", None)
    if watched is None:  # asked for with getfixturevalue(), when the test was under way
        pytest.fail("rldebug_run watches from the set-up of a test on: name it among its arguments", pytrace=False)
    return watched.dbg


# ── a test, from its set-up to its end ──────────────────────────────────────────────────────────────────────────────


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: Any) -> None:
    wish = _wish(item)
    if wish is None:
        return
    from rldebug.attach import attach
    from rldebug.config import ConfigError

    name = re.sub(r"[^\w.-]+", "-", item.nodeid).strip("-")[-120:]
    folder = item.config.rootpath / ".rldebug" / "tests"
    shutil.rmtree(folder / name, ignore_errors=True)  # of the last time
    wrong = ""
    try:
        item.rldebug = Watched(attach(name, folder=folder, select=wish.select, ignore=wish.ignore, quiet=True), wish)
    except ConfigError as error:
        wrong = str(error).removeprefix("--")
    if wrong:
        pytest.fail(f"{MARK}: {wrong}", pytrace=False)


@pytest.hookimpl(hookwrapper=True, trylast=True)  # the older kind: pytest 7 knows no other
def pytest_runtest_call(item: Any) -> Iterator[None]:
    outcome: Any = yield
    watched: Watched | None = getattr(item, "rldebug", None)
    if watched is None or watched.dbg.joined:  # within `rldebug run -m pytest`: that one will tell
        return
    failed = outcome.excinfo[1] if outcome.excinfo else None
    _close(watched, failed)
    bad = [] if watched.report is None else _as_bad_as(watched.wish.fail_on, watched.report)
    watched.blamed = bool(bad) and failed is None
    if watched.blamed:
        outcome.force_exception(pytest.fail.Exception(_text(watched, bad), pytrace=False))


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: Any) -> None:
    watched: Watched | None = getattr(item, "rldebug", None)
    if watched is not None and watched.report is None:  # its set-up failed
        _close(watched, None)
    item.rldebug = None


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: Any, call: Any) -> Iterator[None]:
    outcome: Any = yield
    watched: Watched | None = getattr(item, "rldebug", None)
    if call.when != "call" or watched is None or watched.report is None:
        return
    told = outcome.get_result()
    found = _as_bad_as("note", watched.report)
    # Plain data: with xdist it travels to the process that prints.
    told.rldebug = {"trained": watched.trained, "findings": [_line(each) for each in found], "run": _run(watched)}
    if call.excinfo is not None and found and not watched.blamed:
        told.sections.append(("rldebug", _text(watched, found)))


def pytest_terminal_summary(terminalreporter: Any, config: Any) -> None:
    if not config.getoption("rldebug"):
        return
    told = [
        (each.nodeid, each.rldebug)
        for reports in terminalreporter.stats.values()
        for each in reports
        if hasattr(each, "rldebug")
    ]
    trained = [(name, found) for name, found in told if found["trained"]]
    guilty = [(name, found) for name, found in trained if found["findings"]]
    terminalreporter.section("rldebug")
    for name, found in guilty:
        terminalreporter.write_line(name, bold=True)
        for line in found["findings"]:
            terminalreporter.write_line(f"  {line}")
        terminalreporter.write_line(f"  more: rldebug report {found['run']}")
    terminalreporter.write_line(
        f"{len(told)} watched: {len(trained)} trained, {len(guilty)} of them with findings"
        if told
        else "no test was watched"
    )


# ── how ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _wish(item: Any) -> Wish | None:
    """What was asked for this test; None: it is not watched."""
    marks = list(item.iter_markers("rldebug"))
    if not marks:
        if "rldebug_run" in getattr(item, "fixturenames", ()):
            return Wish()
        return Wish(fail_on=None) if item.config.getoption("rldebug") else None
    if any(each.args for each in marks):
        pytest.fail(f"{MARK} takes its arguments by name: fail_on=, select= and ignore=", pytrace=False)
    given = {name: value for each in reversed(marks) for name, value in each.kwargs.items()}
    for name in given:
        if name not in Wish.__dataclass_fields__:
            pytest.fail(f"{MARK} knows no {name}=: expected fail_on=, select= or ignore=", pytrace=False)
    if given.get("fail_on") not in (*_SEVERITIES, None):
        expected = f"expected {', '.join(map(repr, _SEVERITIES))} or None"
        pytest.fail(f"{MARK}: fail_on is {given['fail_on']!r}, {expected}", pytrace=False)
    for name in ("select", "ignore"):
        value = given.get(name, ())
        if isinstance(value, str) or not all(isinstance(each, str) for each in value):
            pytest.fail(f"{MARK}: {name} is {value!r}, expected a list of codes or names of rules", pytrace=False)
        given[name] = tuple(value)
    return Wish(**given)


def _close(watched: Watched, failed: BaseException | None) -> None:
    dbg = watched.dbg
    watched.trained = bool(dbg.updates or dbg.env_steps)
    watched.report = dbg.close(failed)
    if not watched.trained and not dbg.joined:
        shutil.rmtree(dbg.path, ignore_errors=True)


def _as_bad_as(severity: str | None, report: Report) -> list[Any]:
    if severity is None:
        return []
    bad = _SEVERITIES[: _SEVERITIES.index(severity) + 1]
    return [each for each in report.roots if each.severity in bad]


def _text(watched: Watched, findings: list[Any]) -> str:
    from rldebug.render.terminal import block

    first = findings[0]
    head = f"rldebug: {first.message} ({first.code})" + (f", and {len(findings) - 1} more" if findings[1:] else "")
    blocks = "\n".join(block(each).plain for each in findings)
    return f"{head}\n\n{blocks}\npage: rldebug report {_run(watched)} --html report.html"


def _line(finding: Any) -> str:
    from rldebug.render.terminal import place

    where = place(finding.where)
    return f"{finding.severity}[{finding.code}]: {finding.message}" + (f"  ({where})" if where else "")


def _run(watched: Watched) -> str:
    """As it is typed from here."""
    path = watched.dbg.path
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
