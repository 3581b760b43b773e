"""γ and λ as a program was told."""

from __future__ import annotations

from rldebug.evidence.script import Script
from rldebug.forensics.target_settings import told


def setting(name: str, value: float, how: int) -> dict[str, object]:
    return {"kind": "setting", "name": name, "value": value, "holder": "", "how": how}


def option(name: str, value: float) -> dict[str, object]:
    return {"kind": "option", "name": name, "value": value}


def test_options_come_first() -> None:
    assert told(Script(notes=[option("gamma", 0.9), setting("gamma", 0.95, 0)]), "discount") == 0.9


def test_what_lies_nearest_counts() -> None:
    script = Script(notes=[setting("gamma", 0.99, 2), setting("discount", 0.95, 0), setting("gae_lambda", 0.8, 1)])
    assert told(script, "discount") == 0.95
    assert told(script, "lam") == 0.8


def test_two_numbers_of_the_same_meaning_say_nothing() -> None:
    assert told(Script(notes=[setting("gamma", 0.99, 0), setting("gamma", 0.95, 0)]), "discount") is None
    assert told(Script(notes=[setting("gamma", 0.97, 2), setting("gamma", 0.9700000286, 2)]), "discount") == 0.97
