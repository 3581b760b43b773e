"""Rewards-to-go are summed without the discount."""

BASE = "reinforce"
REPLACE = [("tail = r + gamma * tail", "tail = r + tail"), ("gamma = 0.97", "gamma = 0.9")]
EXPECT = "DIS004"
TRAIN = {"updates": 60}
