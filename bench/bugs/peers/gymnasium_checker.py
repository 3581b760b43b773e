"""Gymnasium's environment checker (1.4): `gymnasium.utils.env_checker.check_env` on the program's own environment.

    python gymnasium_checker.py CASE.json REPORT.json

It stops at the first thing it takes for an error; all it warns of before that is kept. Not asked where the program has
no environment of its own. What it says of its own limits (no spec, a wrapped environment) is not a finding.
"""

from __future__ import annotations

import re
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from recorder import Case, Finding, NotApplicable, answer, load_target, place

_OF_ITSELF = ("unwrapped version", "not having a spec", "render", "deprecat")


def judge(case: Case) -> list[Finding]:
    target = case.env_check.get("target")
    if not target:
        raise NotApplicable("the program has no environment of its own")
    from gymnasium.utils.env_checker import check_env

    env, home = load_target(target)(), target.partition(":")[0]
    findings = []
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            check_env(env)
        except Exception as error:
            file, line = place(error)
            text = f"{type(error).__name__}: {error}"
            findings.append(Finding("gymnasium-error", "environment", "error", text, file or home, line))
    for text in dict.fromkeys(plain(str(each.message)) for each in said):
        if not any(each in text for each in _OF_ITSELF):
            findings.append(Finding("gymnasium-warning", "environment", "warning", text, home))
    return findings


def plain(text: str) -> str:
    """Without colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text).removeprefix("WARN: ").strip()


if __name__ == "__main__":
    answer(judge)
