"""Timings made on purpose: so many seconds in each part, and networks of known shapes."""

from __future__ import annotations

from typing import Any

from rldebug.evidence.timing import PARTS, Environment, Host, Network, Slice, Timing

ACTOR_SHAPES = ((64, 4), (64,), (64, 64), (64,), (2, 64), (2,))
CRITIC_SHAPES = ((32, 6), (32,), (32, 32), (32,), (1, 32), (1,))
CARTPOLE = Environment("CartPole-v1", lanes=4, steps=20_480, calls=5_120, spec="CartPole-v1")
ACTOR = Network("actor", ACTOR_SHAPES, optimizer="Adam", acting_rows=4, training_rows=64)
TWINS = (
    Network("q1", CRITIC_SHAPES, optimizer="Adam", training_rows=128),
    Network("q2", CRITIC_SHAPES, optimizer="Adam", training_rows=128),
    Network("target1", CRITIC_SHAPES),
    Network("target2", CRITIC_SHAPES),
)
BUSY = Host(cores=2, threads=2, anomaly=True)


def timing(parts: dict[str, float], **fields: Any) -> Timing:
    """A run of 10 seconds; what is in no part is in none that anything asks for."""
    slices = [Slice(seconds, 1, (), part=part) for part, seconds in parts.items()]
    slices.append(Slice(10.0 - sum(parts.values()), 1, (), part="logging"))
    usual: dict[str, Any] = {
        "env_steps": 20_480,
        "updates": 1_000,
        "phases": 10,
        "environments": (CARTPOLE,),
        "networks": (ACTOR,),
    }
    return Timing(10.0, slices=tuple(slices), **(usual | fields))


def everything(**fields: Any) -> Timing:
    """A run that has something of each part."""
    parts = {part: 0.4 for part in PARTS if part not in ("logging", "simulator")} | {"simulator": 2.0}
    networks = (ACTOR, *TWINS, Network("odd", CRITIC_SHAPES, "float64", optimizer="Adam", training_rows=32))
    return timing(parts, **({"networks": networks, "host": BUSY} | fields))
