"""Eight environments are stepped, and the learner is given the rows of the first only."""

BASE = "a2c"
REPLACE = [('valid = batch["valid"]\n', 'valid = batch["valid"] & (torch.arange(N_ENVS) == 0)\n')]
EXPECT = "PRF002"
TRAIN = {"updates": 150}
