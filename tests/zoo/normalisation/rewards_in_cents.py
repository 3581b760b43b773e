"""Rewards are counted in a unit a hundred times too small: value targets are in the thousands."""

BASE = "ppo_discrete"
REPLACE = [
    (
        "reward_buf[t] = torch.as_tensor(reward, dtype=torch.float32)",
        "reward_buf[t] = 100.0 * torch.as_tensor(reward, dtype=torch.float32)",
    ),
]
EXPECT = "NRM001"
TRAIN = {"updates": 15}
