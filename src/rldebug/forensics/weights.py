"""Weights as they were looked at: in audits, and between them."""

from __future__ import annotations

from rldebug.evidence.script import Script


def prints(script: Script, module: str) -> list[str]:
    """Fingerprints of a network's weights, at all looks: they tell whether it ever changed while anybody looked.

    Between audits only networks that have others of their shapes are looked at.
    """
    seen = [str(each["fingerprint"]) for _, each in script.events("weights") if each["module"] == module]
    return seen + [str(each) for each in script.things.get("glance", {}).get(module, {}).get("prints") or ()]


def looks(script: Script, module: str) -> dict[int, str]:
    """Number of an audit -> the fingerprint at its end."""
    return {a.number: str(each["fingerprint"]) for a, each in script.events("weights") if each["module"] == module}
