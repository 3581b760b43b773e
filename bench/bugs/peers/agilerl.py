"""AgileRL's probe environments (agilerl 2.58.0): cannot be asked about a program that is not built from its agents.

    python agilerl.py CASE.json REPORT.json

Its checks take an AgileRL agent and call its learn(); and in 2.58.0 every assertion in them is commented out (5 in
probe_envs.py, 4 in probe_envs_ma.py, none that is not), so that they pass whatever the agent has learned.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from recorder import Case, Finding, NotApplicable, answer


def judge(case: Case) -> list[Finding]:
    spec = importlib.util.find_spec("agilerl")
    state = "agilerl is not installed"
    if spec is not None and spec.submodule_search_locations:
        folder = Path(next(iter(spec.submodule_search_locations)), "utils")
        lines = [each.strip() for file in folder.glob("probe_envs*.py") for each in file.read_text().splitlines()]
        live, dead = (sum(each.startswith(start) for each in lines) for start in ("assert ", "# assert "))
        state = f"of the assertions in the installed one {dead} are commented out and {live} are not"
    raise NotApplicable(f"its probe checks accept AgileRL agents only; {state}")


if __name__ == "__main__":
    answer(judge)
