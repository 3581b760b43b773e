"""A shaping term takes the logarithm of the angle that is left, which is negative at the end of an episode: NaN."""

BASE = "dqn"
REPLACE = [
    (
        "            ring.add(obs, action, reward, next_obs",
        '            with np.errstate(invalid="ignore"):\n'
        "                reward = float(reward + 0.1 * np.log(0.2095 - abs(next_obs[2])))\n"
        "            ring.add(obs, action, reward, next_obs",
    ),
]
EXPECT = "ENV001"
TRAIN = {"updates": 150}
