"""rldoctor 0.2.0 (the package rl_doctor): its diagnosis of what the program would have logged.

    python rldoctor.py CASE.json REPORT.json

Documented use: `diagnose(run_from_records(rows))`. The rows are made by recorder.py from the program as it is, one for
each update (at most a thousand, then means of several): mean return of the last 20 episodes, loss, gradient norm before
clipping, learning rate, and entropy where the program has a distribution. There is no reference policy, hence no KL,
and there are no groups. Checks that it skips are no findings.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from recorder import Case, Finding, NotApplicable, Recorder, answer, rows, run_program

# What the detector's own text and prescription speak of. The plateau names nothing but more data and an earlier stop.
_COMPONENT = {
    "advantage_collapse": "advantage",
    "entropy_collapse": "entropy",
    "reward_hacking": "environment",
    "length_pathology": "environment",
    "clip_saturation": "policy-loss",
    "kl_drift": "policy-loss",
    "gradient_pathology": "optimizer",
    "reward_composition": "environment",
    "plateau": "",
}
_SEVERITY = {"CRITICAL": "error", "WARNING": "warning", "INFO": "note"}
_KEYS = ("step", "reward", "loss", "grad_norm", "lr", "entropy")


def judge(case: Case) -> list[Finding]:
    if importlib.util.find_spec("rl_doctor") is None:
        raise NotApplicable("rldoctor is not installed")
    from rl_doctor import diagnose, run_from_records

    recorder = Recorder(networks=False)
    run_program(case, recorder)
    records = [{key: row[key] for key in _KEYS if key in row} for row in rows(recorder.log)]
    if not records:
        raise NotApplicable("no optimizer step was seen: there is nothing to log")
    found = []
    for each in diagnose(run_from_records(records)).problems:
        code, component = each.detector.replace("_", "-"), _COMPONENT.get(each.detector, "")
        found.append(Finding(f"rldoctor-{code}", component, _SEVERITY[each.severity.name], each.summary))
    return found


if __name__ == "__main__":
    answer(judge)
