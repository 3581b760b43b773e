"""The actor's optimizer is made from the parameters of both networks, the critic's from the critic's."""

BASE = "a2c"
REPLACE = [
    (
        "torch.optim.RMSprop(actor.parameters(), lr=ACTOR_LR",
        "torch.optim.RMSprop([*actor.parameters(), *critic.parameters()], lr=ACTOR_LR",
    ),
]
EXPECT = "OPT002"
TRAIN = {"updates": 60}
