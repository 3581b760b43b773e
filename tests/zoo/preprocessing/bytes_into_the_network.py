"""Observations are stored as bytes, 0 to 255, to save memory, and go into the network like that."""

BASE = "ppo_discrete"
REPLACE = [
    (
        "obs_buf[t] = torch.as_tensor(obs, dtype=torch.float32)",
        "obs_buf[t] = torch.as_tensor(obs * 40.0 + 128.0).clamp(0, 255).byte()",
    ),
]
EXPECT = "PRE001"
TRAIN = {"updates": 10}
