"""The lists that hold a rollout are never cleared, and only their beginning is stacked."""

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
    (
        "batch = {k: torch.stack(v) for k, v in rows.items()}",
        "batch = {k: torch.stack(v[:N_STEPS]) for k, v in rows.items()}",
    ),
]
EXPECT = "BUF005"
TRAIN = {"updates": 100}
