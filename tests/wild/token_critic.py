"""A tiny language model with a value for each place, that learns by PPO from rewards of tokens."""

from __future__ import annotations

from tests.programs.token_critic import program

__all__ = ["FAULTS", "program"]

FAULTS = {
    "itself": "POL387",
    "paid": "POL389",
    "column": "ADV374",
    "statistics": "ADV375",
    "after": "ADV376",
    "sign": "ADV377",
    "place": "VAL385",
    "moved": "VAL385",
    "rows": "ADV379",
    "forgotten": "ADV380",
    "everywhere": "VAL386",
}
