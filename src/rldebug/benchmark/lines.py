"""Files of one JSON value on a line, only ever appended to: what a killed run left half written is passed over."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


def append_line(file: Path, data: Mapping[str, Any]) -> None:
    with file.open("ab+") as opened:
        torn = opened.tell() > 0 and _last_byte(opened) != b"\n"
        opened.write((b"\n" if torn else b"") + json.dumps(data, ensure_ascii=False).encode() + b"\n")


def read_lines(file: Path) -> Iterator[dict[str, Any]]:
    for line in file.read_text(encoding="utf-8").splitlines() if file.is_file() else ():
        try:
            yield json.loads(line)
        except json.JSONDecodeError:
            continue


def _last_byte(opened: Any) -> bytes:
    opened.seek(-1, 2)
    last: bytes = opened.read(1)
    return last
