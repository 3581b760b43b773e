"""Position and velocity are handed to the network in millimetres, angles in radians."""

BASE = "a2c"
REPLACE = [
    (
        "[lambda: gym.make(env_id) for _ in range(N_ENVS)]",
        "[lambda: gym.wrappers.TransformObservation("
        "gym.make(env_id), lambda o: o * np.array([1e3, 1e3, 1, 1], np.float32), None) for _ in range(N_ENVS)]",
    ),
]
EXPECT = "NRM002"
TRAIN = {"updates": 150}
