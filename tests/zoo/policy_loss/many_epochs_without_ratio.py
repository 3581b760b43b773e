"""Plain policy-gradient loss, which is right for one step, repeated for 30 epochs on the same rollout."""

BASE = "ppo_discrete"
REPLACE = [
    ("policy_loss = -torch.min(ratio * advantage, clipped_ratio * advantage).mean()",
     "policy_loss = -(logp * advantage).mean()"),
    ("NUM_EPOCHS = 4", "NUM_EPOCHS = 30"),
    ("ENT_COEF = 0.01", "ENT_COEF = 0.0"),
]  # fmt: skip
EXPECT = "POL002"
TRAIN = {"updates": 12}
