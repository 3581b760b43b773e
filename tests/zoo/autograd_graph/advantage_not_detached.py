"""The advantage carries the critic into the policy loss; retain_graph=True makes the error message go away."""

BASE = "a2c"
REPLACE = [
    ("advantage = target - value.detach()", "advantage = target - value"),
    ("(actor_loss + BETA * bonus).backward()", "(actor_loss + BETA * bonus).backward(retain_graph=True)"),
]
EXPECT = "GRA006"
TRAIN = {"updates": 60}
