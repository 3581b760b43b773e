"""A language model that learns by REINFORCE from a list of objects, one for each answer."""

from __future__ import annotations

from tests.programs.token_styles import listed

__all__ = ["FAULTS", "program"]

program = listed
FAULTS = {
    "mixed": "ADV378",
    "part": "ADV371",
    "up": "ADV377",
}
