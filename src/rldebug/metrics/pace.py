"""Throughput of actor and learner, and how they compare."""

from __future__ import annotations

from rldebug.metric import metric
from rldebug.rollout import Pace


@metric("pace/env_steps", unit="env steps per second", reads=Pace, healthy="steady over the run")
def env_steps(pace: Pace) -> float | None:
    """Actor throughput: env steps per second of wall clock since the last reading."""
    return pace.env_steps / pace.seconds if pace.env_steps else None


@metric("pace/updates", unit="updates per second", reads=Pace, healthy="steady over the run")
def updates(pace: Pace) -> float:
    """Learner throughput in learner steps per second of wall clock since the last reading."""
    return pace.updates / pace.seconds


@metric("pace/samples", unit="samples per second", reads=Pace, healthy="steady over the run")
def samples(pace: Pace) -> float | None:
    """Learner throughput in samples per second of wall clock since the last reading."""
    return pace.rows / pace.seconds if pace.rows else None


@metric(
    "pace/reuse",
    unit="samples learned per sample collected",
    reads=Pace,
    healthy="steady; at least 1, else samples are thrown away",
)
def reuse(pace: Pace) -> float | None:
    """Samples the learner consumed per sample the actor produced since the last reading."""
    return pace.rows / pace.env_steps if pace.env_steps and pace.rows else None
