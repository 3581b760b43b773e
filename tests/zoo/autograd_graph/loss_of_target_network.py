"""The loss is computed with the target network: the network that the optimizer holds is not in it."""

BASE = "dqn"
REPLACE = [
    ('q_taken = q_net(batch["obs"])', 'q_taken = target_net(batch["obs"])'),
]
EXPECT = "GRA009"
TRAIN = {"updates": 100}
