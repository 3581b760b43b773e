"""rlprobe 0.1.0: its doctor on what the program would have logged.

    python rlprobe.py CASE.json REPORT.json

Documented use: `Recorder.log_step` for each update, then `rlprobe.doctor.diagnose` on the folder. The rows are made by
recorder.py from the program as it is (at most a thousand, then means of several): mean return of the last 20 episodes,
loss, gradient norm before clipping, gradients that are not finite, learning rate, seconds, and entropy where the
program has a distribution. There is no reference policy, hence no KL, and there are no completions.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from recorder import Case, Finding, NotApplicable, Recorder, answer, rows, run_program

# What the signature's own text and actions speak of.
_COMPONENT = {
    "KL_BLOWUP": "policy-loss",
    "ENTROPY_COLLAPSE": "entropy",
    "CLIP_SATURATION": "policy-loss",
    "ADV_COLLAPSE": "advantage",
    "DEGENERATE_GROUPS": "advantage",
    "VALUE_DIVERGENCE": "value-loss",
    "GRAD_PATHOLOGY": "optimizer",
    "REWARD_HACK_LENGTH": "environment",
    "FORMAT_GAMING": "environment",
    "REWARD_STD_DEATH": "environment",
    "THROUGHPUT_ROT": "performance",
}
_SEVERITY = {"critical": "error", "warn": "warning", "info": "note"}
_FIELDS = {
    "reward": "reward_mean",
    "loss": "loss",
    "grad_norm": "grad_norm",
    "lr": "lr",
    "entropy": "entropy_mean",
    "seconds": "step_time_s",
}


def judge(case: Case) -> list[Finding]:
    if importlib.util.find_spec("rlprobe") is None:
        raise NotApplicable("rlprobe is not installed")
    recorder = Recorder(networks=False)
    run_program(case, recorder)
    made = rows(recorder.log)
    if not made:
        raise NotApplicable("no optimizer step was seen: there is nothing to log")
    package, doctor = importlib.import_module("rlprobe"), importlib.import_module("rlprobe.doctor")
    steps = {int(row["step"]): int(row["env_step"]) for row in made}
    with tempfile.TemporaryDirectory(prefix="peers-") as folder:
        with package.Recorder(folder, algorithm="ppo", capture_env=False, install_handlers=False) as flight:
            for row in made:
                known = {field: row[key] for key, field in _FIELDS.items() if key in row and math.isfinite(row[key])}
                flight.log_step(int(row["step"]), nan_count=int(row["nonfinite"]), **known)
        findings = doctor.diagnose(folder)
    return [
        Finding(
            f"rlprobe-{each.signature_id.lower().replace('_', '-')}",
            _COMPONENT.get(each.signature_id, ""),
            _SEVERITY[each.severity],
            each.explanation,
            env_step=steps.get(each.first_step),
        )
        for each in findings
    ]


if __name__ == "__main__":
    answer(judge)
