"""The policy has a learning rate of its own, written as 1e-9 instead of 1e-3; the critic learns."""

BASE = "ppo_discrete"
REPLACE = [
    (
        "torch.optim.Adam(parameters, lr=LR, eps=1e-5)",
        'torch.optim.Adam([{"params": policy.parameters(), "lr": 1e-9}, {"params": critic.parameters()}], lr=LR)',
    ),
]
EXPECT = "POL003"
TRAIN = {"updates": 15}
