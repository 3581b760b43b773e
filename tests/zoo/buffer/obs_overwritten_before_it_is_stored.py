"""`obs = next_obs` comes before the transition is stored: both fields hold the same observation."""

BASE = "dqn"
REPLACE = [
    (
        "            ring.add(obs, action, reward, next_obs, terminated, truncated, dbg.age)\n",
        "            obs = next_obs\n"
        "            ring.add(obs, action, reward, next_obs, terminated, truncated, dbg.age)\n",
    ),
]
EXPECT = "BUF006"
TRAIN = {"updates": 800}
