"""What was found when a run ended, as it wrote it down: there at once, before anybody has judged the run anew."""

from __future__ import annotations

import json
from pathlib import Path

from rldebug.evidence.lines import read_small
from rldebug.finding import Finding, Report, rank

FILE = "findings.jsonl"


def read_findings(folder: Path) -> Report | None:
    """None where nothing was written, or somebody has tampered with it."""
    try:
        lines = read_small(folder / FILE).splitlines()
        found = {json.dumps(each): Finding.from_dict(each) for each in map(json.loads, lines)}
        return Report("run", rank(found.values()))
    except Exception:
        return None


def counted(report: Report) -> dict[str, int]:
    """How many errors, warnings and notes."""
    found = [each.severity for each in report.roots]
    return {f"{each}s": found.count(each) for each in ("error", "warning", "note")}
