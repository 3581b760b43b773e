"""The critic sees its observations in environment-major order, the targets are in time-major order."""

BASE = "ppo_discrete"
REPLACE = [("value = critic(flat_obs[idx])", "value = critic(obs_buf.transpose(0, 1).reshape(-1, n_obs)[idx])")]
EXPECT = "VAL001"
TRAIN = {"updates": 40}
