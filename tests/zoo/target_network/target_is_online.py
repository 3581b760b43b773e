"""Both names stand for one network."""

BASE = "dqn"
REPLACE = [("target_net = copy.deepcopy(q_net)", "target_net = q_net")]
EXPECT = "TGT002"
TRAIN = {"updates": 150}
