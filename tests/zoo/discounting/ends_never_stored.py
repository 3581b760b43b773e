"""The flags of episode ends never reach the buffer: returns run on into the next episode."""

BASE = "ppo_discrete"
REPLACE = [
    ("                terminated_buf[t] = torch.as_tensor(terminated)\n", ""),
    ("                truncated_buf[t] = torch.as_tensor(truncated)\n", ""),
]
EXPECT = "DIS008"
TRAIN = {"updates": 8}
