"""The critic's (N, 1) output minus (N,) targets broadcasts to (N, N)."""

BASE = "ppo_discrete"
REPLACE = [("value = critic(flat_obs[idx]).squeeze(-1)", "value = critic(flat_obs[idx])")]
EXPECT = "VAL005"
TRAIN = {"updates": 6}
