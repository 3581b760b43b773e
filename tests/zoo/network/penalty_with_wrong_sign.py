"""The penalty on the weights is subtracted from the loss: the larger the weights, the better."""

BASE = "dqn"
REPLACE = [
    (
        "loss = F.smooth_l1_loss(q_taken, td_target)",
        "loss = F.smooth_l1_loss(q_taken, td_target) - sum(p.square().sum() for p in q_net.parameters())",
    ),
    ('"lr": 1e-3', '"lr": 2e-2'),
]
EXPECT = "NET006"
ACCEPT = ("DIS003",)  # values that grow with the weights leave the range that rewards allow
TRAIN = {"updates": 800}
