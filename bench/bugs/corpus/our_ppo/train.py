"""Train a copy of rldebug's PPO that lies beside this script, so that it can be changed."""

import argparse
import importlib
import sys

import rldebug

sys.modules["rldebug.algos.ppo"] = importlib.import_module("ppo")  # instead of the one in the package


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--env", default="CartPole-v1")
    parser.add_argument("--steps", type=int, default=15_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    trained = rldebug.train(
        "ppo", options.env, steps=options.steps, seed=options.seed, episodes=20, record=False, quiet=True
    )
    greedy = trained.summary.greedy
    print(f"greedy return over {len(greedy)} episodes: {sum(greedy) / len(greedy):.1f}")


if __name__ == "__main__":
    main()
