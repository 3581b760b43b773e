"""Dropout in the policy, left on: acting and learning see different networks."""

BASE = "ppo_discrete"
REPLACE = [
    ("policy = nn.Sequential(layer(n_obs, 64), nn.Tanh(), layer(64, 64), nn.Tanh(),",
     "policy = nn.Sequential(layer(n_obs, 64), nn.Tanh(), nn.Dropout(0.2), layer(64, 64), nn.Tanh(),"),
]  # fmt: skip
EXPECT = "POL005"
TRAIN = {"updates": 30}
