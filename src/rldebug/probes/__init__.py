"""Environments with known answers, agents with known behaviour, and what playing one against the other shows."""

from rldebug.probes.shelf import register

register()  # `gymnasium.make("rldebug.probes:rldebug/ConstantReward-v0")` imports this, and finds the probe
