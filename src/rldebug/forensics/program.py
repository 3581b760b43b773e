"""What kind of program it is: the family of its algorithm, its discount as it is used, what it trains and where."""

from __future__ import annotations

from typing import Any

from rldebug.evidence.script import Script
from rldebug.forensics.card import card
from rldebug.forensics.roles import roles_of
from rldebug.forensics.targets import discount, trace_decay


def program_of(script: Script) -> dict[str, Any]:
    """For the report: only what was worked out. Numbers are those that fit what was computed, not those in a config."""
    roles = roles_of(script)
    streams = {int(each["index"]): each for each in script.streams}
    trained = streams.get(roles.stream) if roles.stream is not None else None
    networks = {
        "policy": sorted(roles.policy),
        "critic": sorted(roles.critic),
        "q": sorted(roles.q),
        "target": sorted(roles.target_names),
    }
    found = {
        "family": roles.family if script.counts.get("updates") else None,
        "gamma": discount(script),
        "lambda": trace_decay(script),
        "environment": trained["name"] if trained else None,
        "lanes": trained["lanes"] if trained else None,
        "networks": {role: names for role, names in networks.items() if names},
        "updates": script.counts.get("updates"),
        "env_steps": script.counts.get("env_steps"),
    }
    return {name: value for name, value in found.items() if value not in (None, {})} | card(script)
