"""A language model that answers twice, and is told something in between; both answers are learned at once."""

from __future__ import annotations

from tests.programs.token_styles import dialogue

__all__ = ["FAULTS", "program"]

program = dialogue
FAULTS = {"told": "POL384"}
