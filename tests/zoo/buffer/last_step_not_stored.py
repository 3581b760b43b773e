"""The loop starts a new episode before the last transition of the old one is stored."""

BASE = "dqn"
REPLACE = [
    (
        "            ring.add(obs, action, reward, next_obs, terminated, truncated, dbg.age)\n",
        "            if not (terminated or truncated):\n"
        "                ring.add(obs, action, reward, next_obs, terminated, truncated, dbg.age)\n",
    ),
]
EXPECT = "BUF007"
TRAIN = {"updates": 1000}
