"""For pytest: `pytest --rldebug-write-test gae=mypkg.ppo:compute_gae` writes a test that verifies it, and stops.

Loaded with every pytest that has rldebug beside it: nothing is imported here until it is asked for.
"""

from __future__ import annotations

from typing import Any

FILE = "tests/test_components.py"


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("rldebug", "components beside their references")
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


def pytest_cmdline_main(config: Any) -> int | None:
    wanted = config.getoption("rldebug_write_test")
    if not wanted:
        return None
    from pathlib import Path

    import pytest

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
