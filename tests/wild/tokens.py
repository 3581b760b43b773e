"""A tiny language model that learns from rewards of whole answers, compared within the group of a prompt."""

from __future__ import annotations

from tests.programs.tokens import program

__all__ = ["FAULTS", "program"]

FAULTS = {
    "place": "POL380",
    "temperature": "POL381",
    "unlike": "POL382",
    "filler": "POL383",
    "prompt": "POL384",
    "end": "POL385",
    "itself": "POL386",
    "repelled": "POL451",
    "reseeded": "SEE455",
    "raw": "POL388",
    "axis": "ADV370",
    "first": "ADV371",
    "mean": "ADV371",
    "shuffled": "ADV373",
    "dropout": "NET397",
}
