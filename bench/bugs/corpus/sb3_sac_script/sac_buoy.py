"""SAC with VecNormalize for the buoy: training in calm water, some more in a stronger current, then a test run
from the files on disk, the way the controller will be loaded on board."""
import argparse
from pathlib import Path
from typing import Tuple

import numpy as np
import torch as th
from stable_baselines3 import SAC
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import VecNormalize, sync_envs_normalization

from buoy_env import BuoyEnv


class RewardTrace(BaseCallback):
    """Keeps the raw return of every finished episode (Monitor sits below VecNormalize)."""

    def __init__(self) -> None:
        super().__init__()
        self.finished: list = []

    def _on_step(self) -> bool:
        self.finished += [info["episode"]["r"] for info in self.locals["infos"] if "episode" in info]
        return True


def build_env(current: float, n: int, seed: int, gamma: float) -> VecNormalize:
    raw = make_vec_env(BuoyEnv, n_envs=n, seed=seed, env_kwargs={"current_strength": current})
    return VecNormalize(raw, norm_obs=True, norm_reward=True, clip_obs=8.0, gamma=gamma)


def build_agent(env: VecNormalize, seed: int, gamma: float) -> SAC:
    return SAC(
        "MlpPolicy",
        env,
        learning_rate=3e-3,
        buffer_size=8_000,
        learning_starts=200,
        batch_size=64,
        tau=0.02,
        gamma=gamma,
        train_freq=1,
        gradient_steps=1,
        ent_coef="auto_0.2",
        policy_kwargs={"net_arch": [32, 32]},
        seed=seed,
        device="cpu",
    )


def test_controller(folder: Path, episodes: int, seed: int) -> Tuple[float, float]:
    """Returns (mean raw return, share of steps within 20 cm of the set depth)."""
    venv = make_vec_env(BuoyEnv, n_envs=episodes, seed=seed, env_kwargs={"current_strength": 0.8})
    venv = VecNormalize.load(str(folder / "stats.pkl"), venv)
    venv.training = False
    venv.norm_reward = False
    pilot = SAC.load(folder / "pilot.zip", device="cpu")

    obs = venv.reset()
    total = np.zeros(episodes)
    alive = np.ones(episodes, dtype=bool)
    close = steps = 0
    while alive.any():
        action, _ = pilot.predict(obs, deterministic=True)
        obs, reward, done, _ = venv.step(action)
        total += reward * alive
        error = np.abs(venv.get_original_obs()[:, 0]) / 10.0
        still = alive & ~done
        close += int((error[still] < 0.2).sum())
        steps += int(still.sum())
        alive = still
    venv.close()
    return float(total.mean()), close / max(steps, 1)


def main() -> None:
    cli = argparse.ArgumentParser()
    cli.add_argument("--seed", type=int, default=7)
    cli.add_argument("--calm-steps", type=int, default=1600)
    cli.add_argument("--rough-steps", type=int, default=480)
    cli.add_argument("--n-envs", type=int, default=4)
    cli.add_argument("--gamma", type=float, default=0.95)
    cli.add_argument("--out", type=Path, default=Path("buoy_run"))
    opt = cli.parse_args()
    opt.out.mkdir(exist_ok=True)
    th.set_num_threads(1)

    calm = build_env(0.4, opt.n_envs, opt.seed, opt.gamma)
    agent = build_agent(calm, opt.seed, opt.gamma)
    trace = RewardTrace()
    agent.learn(opt.calm_steps, callback=trace, log_interval=1000)
    print(f"calm water:  {len(trace.finished)} episodes, last ten {np.mean(trace.finished[-10:]):.1f}")

    rough = build_env(0.8, opt.n_envs, opt.seed + 50, opt.gamma)
    sync_envs_normalization(calm, rough)
    agent.set_env(rough)
    trace = RewardTrace()
    agent.learn(opt.rough_steps, callback=trace, log_interval=1000, reset_num_timesteps=False)
    print(f"rough water: {len(trace.finished)} episodes, last ten {np.mean(trace.finished[-10:]):.1f}")

    agent.save(opt.out / "pilot.zip")
    rough.save(str(opt.out / "stats.pkl"))
    calm.close()
    rough.close()

    mean_return, on_depth = test_controller(opt.out, episodes=16, seed=opt.seed + 4000)
    print(f"on depth {100 * on_depth:.0f} % of the time")
    print(f"test return {mean_return:.2f}")


if __name__ == "__main__":
    main()
