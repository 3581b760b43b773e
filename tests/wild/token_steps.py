"""A language model with a state that goes from token to token, and that is given all tokens but the last to learn."""

from __future__ import annotations

from tests.programs.token_styles import stepwise

__all__ = ["FAULTS", "program"]

program = stepwise
FAULTS = {
    "index": "ADV378",
    "backwards": "ADV377",
    "early": "VAL361",
    "filler": "POL383",
}
