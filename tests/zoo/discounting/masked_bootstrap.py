"""Next values of terminal rows are masked with −inf, then multiplied by 0: 0 · inf is NaN."""

BASE = "dqn"
REPLACE = [
    (
        'next_q = target_net(batch["next_obs"]).max(dim=1).values',
        'next_q = target_net(batch["next_obs"]).max(dim=1).values.masked_fill(batch["terminated"], -torch.inf)',
    ),
]
EXPECT = "DIS009"
TRAIN = {"updates": 100}
