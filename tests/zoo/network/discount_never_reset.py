"""The actor loss is weighted by γ to the power of all updates so far, which is never set back to 1."""

BASE = "a2c"
REPLACE = [
    (
        "actor_loss = -(logp_new * advantage).mean()",
        "weight = GAMMA * weight\n            actor_loss = -weight * (logp_new * advantage).mean()",
    ),
    ("bonus = -pi.entropy().mean()", "bonus = -weight * pi.entropy().mean()"),
    (
        "        ended = np.zeros(N_ENVS, dtype=bool)\n",
        "        ended = np.zeros(N_ENVS, dtype=bool)\n        weight = 1.0\n",
    ),
]
EXPECT = "NET007"
TRAIN = {"updates": 300}
