"""What an evaluation chooses, of a network that was loaded from a file to be played."""

from __future__ import annotations

from typing import Any

from rldebug.evidence.script import Script
from rldebug.forensics.chosen import _made_alike

MADE = {"class": "Policy", "parameters": 20, "trainable": 4, "layers": {"Linear": 2}, "last": "Linear"}


def test_a_network_of_the_same_make_is_the_policy_and_so_is_a_part_of_it() -> None:
    modules: Any = {
        "policy": {**MADE, "inside": None},
        "head": {**MADE, "class": "Linear", "inside": "policy"},
        "loaded": {**MADE, "inside": None},
        "other": {**MADE, "parameters": 21, "inside": None},
        "its-head": {**MADE, "class": "Linear", "inside": "loaded"},
    }
    script = Script([], {"module": modules})
    alike = [name for name in modules if _made_alike(script, name, "policy")]
    assert alike == ["policy", "head", "loaded", "its-head"]
