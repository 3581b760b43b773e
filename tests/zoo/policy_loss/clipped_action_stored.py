"""The action is clipped to the bounds before it is stored, the log-prob is that of the unclipped sample."""

BASE = "ppo_continuous"
REPLACE = [("buf.add(self.obs, action.numpy(), scaled_reward", "buf.add(self.obs, env_action, scaled_reward")]
EXPECT = "POL005"
TRAIN = {"updates": 6}
