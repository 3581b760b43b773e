"""Stable-Baselines3's environment checker (2.9.2): `common.env_checker.check_env` on the program's own environment.

    python sb3_checker.py CASE.json REPORT.json

It stops at the first thing it takes for an error; all it warns of before that is kept. Not asked where the program has
no environment of its own.
"""

from __future__ import annotations

import importlib.util
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from recorder import Case, Finding, NotApplicable, answer, load_target, place


def judge(case: Case) -> list[Finding]:
    target = case.env_check.get("target")
    if not target:
        raise NotApplicable("the program has no environment of its own")
    if importlib.util.find_spec("stable_baselines3") is None:
        raise NotApplicable("stable_baselines3 is not installed")
    from stable_baselines3.common.env_checker import check_env

    env, home = load_target(target)(), target.partition(":")[0]
    findings = []
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            check_env(env, warn=True, skip_render_check=True)
        except Exception as error:
            file, line = place(error)
            text = f"{type(error).__name__}: {error}"
            findings.append(Finding("sb3-error", "environment", "error", text, file or home, line))
    for text in dict.fromkeys(str(each.message).strip() for each in said if issubclass(each.category, UserWarning)):
        findings.append(Finding("sb3-warning", "environment", "warning", text, home))
    return findings


if __name__ == "__main__":
    answer(judge)
