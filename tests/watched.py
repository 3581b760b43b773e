"""A function of a test, watched as `rldebug run` watches a program: what it did becomes a Script and a Run."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rldebug.capture.session import Options, Session
from rldebug.config import Config
from rldebug.diagnose import diagnose
from rldebug.evidence.run import Run, read_run
from rldebug.evidence.script import Script, read_script
from rldebug.finding import Finding
from rldebug.follow import Follower


def watched(program: Callable[[], Any], folder: Path | None = None, **options: Any) -> tuple[Run, Script]:
    """Everything that was seen while the function ran. What it raises comes out; so does what broke inside rldebug."""
    with tempfile.TemporaryDirectory() as made:
        path = folder or Path(made) / "run"
        # Reading the sources of all tests for settings that nobody uses takes longer than most programs here.
        # And how much is looked at must not depend on how busy the machine is.
        session = Session(path, Options(**{"without": ("arguments",), "overhead_budget": 9.0, **options}))
        follower = Follower(session, path)
        session.install()
        try:
            program()
        finally:
            session.finish()
            follower.close(state="finished")
        broken = {**session.switch.broken, **follower.record.broken}
        assert not broken, "\n".join(broken.values())
        script = read_script(path)
        assert script is not None
        return read_run(path), script


def findings(program: Callable[[], Any], *codes: str, **options: Any) -> list[Finding]:
    """What is found in it; by some rules, where codes are given."""
    run, script = watched(program, **options)
    report = diagnose([run, script], config=Config(select=codes), command="run")
    assert not report.broken, "\n".join(report.broken.values())
    return list(report.findings)
