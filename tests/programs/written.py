"""Runs of small programs, each watched once: what the rules say of them."""

from __future__ import annotations

from functools import cache

from rldebug.config import Config
from rldebug.diagnose import diagnose
from rldebug.evidence.run import Run
from rldebug.evidence.script import Script
from rldebug.finding import Finding
from tests.programs import examined, played, token_critic, token_styles, tokens
from tests.watched import watched


@cache
def seen(kind: str, fault: str) -> tuple[Run, Script]:
    styles = {"stepwise": token_styles.stepwise, "listed": token_styles.listed, "dialogue": token_styles.dialogue}
    worlds = {"played": played.program, "examined": examined.program}
    program = {"groups": tokens.program, "critic": token_critic.program, **worlds, **styles}[kind]
    return watched(lambda: program(fault), overhead_budget=1.0)


def found(code: str, fault: str = "", kind: str = "groups") -> list[Finding]:
    """What one rule says of one program."""
    report = diagnose([*seen(kind, fault)], config=Config(select=(code,)), command="run")
    assert not report.broken, "\n".join(report.broken.values())
    return list(report.findings)
