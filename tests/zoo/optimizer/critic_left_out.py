"""The optimizer is made from the policy's parameters only: the critic stays as it was initialised."""

BASE = "ppo_discrete"
REPLACE = [
    (
        "optimizer = torch.optim.Adam(parameters, lr=LR, eps=1e-5)",
        "optimizer = torch.optim.Adam(policy.parameters(), lr=LR, eps=1e-5)",
    ),
]
EXPECT = "OPT001"
TRAIN = {"updates": 12}
