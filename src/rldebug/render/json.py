"""The machine-readable report; its contract is `report.schema.json`, beside the package."""

from __future__ import annotations

import json
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

from rldebug.finding import Report


def write_json(report: Report, file: str) -> None:
    write_data(report.to_dict(), file)


def write_data(data: Any, file: str) -> None:
    """To a file, or to stdout where it is `-`."""
    text = json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    if file == "-":
        sys.stdout.write(text)
    else:
        Path(file).write_text(text, encoding="utf-8")


def schema() -> dict[str, Any]:
    text = files("rldebug").joinpath("report.schema.json").read_text(encoding="utf-8")
    contract: dict[str, Any] = json.loads(text)
    return contract
