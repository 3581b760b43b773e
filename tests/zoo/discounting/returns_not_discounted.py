"""Rewards-to-go are summed without the discount."""

BASE = "reinforce"
REPLACE = [("tail = r + gamma * tail", "tail = r + tail")]
EXPECT = "DIS004"
TRAIN = {"updates": 100}
