"""An algorithm of Stable-Baselines3, small. python sb3_small.py ppo|dqn|sac|td3"""

import sys

from stable_baselines3 import DQN, PPO, SAC, TD3

NETS = {"policy_kwargs": {"net_arch": [16, 16]}, "seed": 1, "device": "cpu", "verbose": 1}

if __name__ == "__main__":
    name = sys.argv[1]
    if name == "ppo":
        model = PPO("MlpPolicy", "CartPole-v1", n_steps=64, batch_size=32, n_epochs=4, **NETS)
    elif name == "dqn":
        model = DQN("MlpPolicy", "CartPole-v1", learning_starts=50, target_update_interval=40, **NETS)
    elif name == "sac":
        model = SAC("MlpPolicy", "Pendulum-v1", learning_starts=50, batch_size=32, **NETS)
    else:
        model = TD3("MlpPolicy", "Pendulum-v1", learning_starts=50, batch_size=32, **NETS)
    model.learn(600, log_interval=1)
