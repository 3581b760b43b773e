"""The text of a program, run as `rldebug run` does: with its marks."""

from __future__ import annotations

from rldebug.capture.marks import code_of


def run(text: str, file: str) -> None:
    exec(code_of(text.encode(), file), {"__name__": "program", "__file__": file})
