"""The loop over the rollout computes the advantages and does not store them: the buffer stays zero."""

BASE = "ppo_discrete"
REPLACE = [("        advantages[t] = gae\n", "")]
EXPECT = "ADV002"
TRAIN = {"updates": 5}
