"""The boat of td3.py in a wider bay, with a wider actor that learns faster."""

from __future__ import annotations

from tests.wild import td3

FAULTS = {
    "noise-never-negative": "EXP372",
    "actor-saturated": "NET350",
    "weights-all-zero": "NET351",
    "learning-rate-too-high": "OPT351",
    "learning-rate-too-low": "OPT351",
}


def program(fault: str = "") -> None:
    td3.program(fault, world=(3.0, 5.0, 9.0), hidden=64, rate=3e-3)
