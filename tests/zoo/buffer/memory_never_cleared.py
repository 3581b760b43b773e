"""The lists that hold a rollout are made once, before the loop: every update learns from all rollouts so far."""

BASE = "a2c"
REPLACE = [
    (
        """        for _ in range(updates):
            rows = {k: [] for k in ("obs", "action", "logp", "reward", "terminated", "truncated", "valid")}
""",
        """        rows = {k: [] for k in ("obs", "action", "logp", "reward", "terminated", "truncated", "valid")}
        for _ in range(updates):
""",
    ),
    ("ACTOR_LR, CRITIC_LR = 1e-3, 3e-3", "ACTOR_LR, CRITIC_LR = 3e-3, 3e-3"),
]
EXPECT = "BUF001"
TRAIN = {"updates": 80}
