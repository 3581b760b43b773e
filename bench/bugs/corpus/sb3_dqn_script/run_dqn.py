# DQN (Stable-Baselines3) for the warehouse cart, in two sittings: most of the training, a stop with
# everything written to disk, and the rest after reading it back, as on a cluster with short time slots.
import os
import sys

import numpy as np
import torch
from stable_baselines3 import DQN
from stable_baselines3.common.callbacks import BaseCallback, CallbackList, EvalCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy

from warehouse import WarehouseEnv

torch.set_num_threads(1)

SEED = 0
N_ENVS = 8
FIRST_SITTING = 8_000
SECOND_SITTING = 2_400
CKPT_DIR = "checkpoints"

HYPER = dict(
    learning_rate=2e-3,
    buffer_size=10_000,
    learning_starts=500,
    batch_size=64,
    gamma=0.95,
    tau=1.0,
    train_freq=2,
    gradient_steps=3,
    target_update_interval=400,
    exploration_fraction=0.6,
    exploration_initial_eps=1.0,
    exploration_final_eps=0.05,
    max_grad_norm=10.0,
    policy_kwargs=dict(net_arch=[64], activation_fn=torch.nn.ReLU),
)


class EpsilonLog(BaseCallback):
    """Remembers epsilon and the running success rate at the end of every thousand steps."""

    def __init__(self):
        super().__init__()
        self.rows = []

    def _on_step(self):
        if self.num_timesteps % 1000 < self.training_env.num_envs:
            wins = self.model.ep_success_buffer
            self.rows.append((self.num_timesteps, self.model.exploration_rate, np.mean(wins) if wins else np.nan))
        return True


def make_envs(n, seed):
    return make_vec_env(WarehouseEnv, n_envs=n, seed=seed)


def make_callbacks(eval_env, sitting):
    watcher = EvalCallback(
        eval_env,
        n_eval_episodes=8,
        eval_freq=max(2_000 // N_ENVS, 1),
        best_model_save_path=os.path.join(CKPT_DIR, f"best_of_{sitting}"),
        deterministic=True,
        verbose=0,
    )
    return watcher, EpsilonLog()


def first_sitting(train_env, eval_env):
    model = DQN("MlpPolicy", train_env, seed=SEED, device="cpu", **HYPER)
    watcher, eps_log = make_callbacks(eval_env, "first")
    model.learn(FIRST_SITTING, callback=CallbackList([watcher, eps_log]), log_interval=100)
    model.save(os.path.join(CKPT_DIR, "dqn"))
    model.save_replay_buffer(os.path.join(CKPT_DIR, "replay"))
    return eps_log.rows, watcher.best_mean_reward


def second_sitting(train_env, eval_env):
    model = DQN.load(os.path.join(CKPT_DIR, "dqn"), env=train_env, device="cpu")
    model.load_replay_buffer(os.path.join(CKPT_DIR, "replay"))
    watcher, eps_log = make_callbacks(eval_env, "second")
    model.learn(
        SECOND_SITTING,
        callback=CallbackList([watcher, eps_log]),
        log_interval=100,
        reset_num_timesteps=False,
    )
    return model, eps_log.rows, watcher.best_mean_reward


def main():
    os.makedirs(CKPT_DIR, exist_ok=True)
    train_env = make_envs(N_ENVS, SEED)
    eval_env = make_envs(4, SEED + 500)

    rows, best = first_sitting(train_env, eval_env)
    model, more_rows, best_later = second_sitting(train_env, eval_env)
    for step, eps, wins in rows + more_rows:
        print(f"step {step:6d}  epsilon {eps:.3f}  success rate {wins:.2f}")
    print(f"best evaluation: first sitting {best:.3f}, second sitting {best_later:.3f}")

    test_env = make_envs(8, SEED + 900)
    returns, lengths = evaluate_policy(
        model, test_env, n_eval_episodes=30, deterministic=True, return_episode_rewards=True
    )
    print(f"final policy: mean return {np.mean(returns):.4f}, mean length {np.mean(lengths):.1f}")
    for env in (train_env, eval_env, test_env):
        env.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
