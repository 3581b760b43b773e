"""The optimizer gets the parameters of both networks, and targets are computed with gradients."""

BASE = "dqn"
REPLACE = [
    (
        'torch.optim.Adam(q_net.parameters(), lr=cfg["lr"])',
        'torch.optim.Adam([*q_net.parameters(), *target_net.parameters()], lr=cfg["lr"])',
    ),
    ("            with torch.no_grad():\n                next_q", "            if True:\n                next_q"),
]
EXPECT = "TGT003"
TRAIN = {"updates": 60}
