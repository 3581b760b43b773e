"""Epsilon is 0 from the first step on: an untrained network decides everything."""

BASE = "dqn"
REPLACE = [('"eps_start": 1.0', '"eps_start": 0.0'), ('"eps_end": 0.05', '"eps_end": 0.0')]
EXPECT = "EXP004"
TRAIN = {"updates": 1000}
