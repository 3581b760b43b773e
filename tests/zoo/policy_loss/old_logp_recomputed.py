"""The old log-probs are taken from the current network in every minibatch: the ratio is 1, nothing is clipped."""

BASE = "ppo_discrete"
REPLACE = [("logp_old = flat_logp[idx]", "logp_old = logp.detach()")]
EXPECT = "POL004"
TRAIN = {"updates": 12}
